import { describe, expect, test } from 'vitest';
import { createMetrics } from '../runtime/metrics.js';
import { createLog } from '../runtime/log.js';
import type { DependencyState } from '../runtime/readiness.js';
import { createStaleKeys, readyWithoutPostgres } from './outlast-postgres.js';

const reportOf = (postgres: DependencyState, eventLog: DependencyState, isStopping = false) => ({
  isReady: postgres === 'up' && eventLog === 'up' && !isStopping,
  isStopping,
  dependencies: { postgres, schema: postgres, event_log: eventLog },
});

describe('without PostgreSQL', () => {
  test('events are accepted for as long as known keys are, and the page names PostgreSQL', async () => {
    let report = reportOf('up', 'up');
    const readiness = readyWithoutPostgres(() => Promise.resolve(report), 60_000);
    expect(await readiness()).toEqual(report);
    report = reportOf('down', 'up');
    expect(await readiness()).toEqual({ ...report, isReady: true });
    report = reportOf('down', 'down');
    expect(await readiness()).toEqual(report);
    report = reportOf('down', 'up', true);
    expect(await readiness()).toEqual(report);
  });

  test('nothing is accepted when that time is over', async () => {
    const report = reportOf('down', 'up');
    const readiness = readyWithoutPostgres(() => Promise.resolve(report), 0);
    expect(await readiness()).toEqual(report);
  });

  test('a schema that lacks a migration counts while PostgreSQL answers', async () => {
    const dependencies = { postgres: 'up', schema: 'down', event_log: 'up' } as const;
    const report = { isReady: false, isStopping: false, dependencies };
    const readiness = readyWithoutPostgres(() => Promise.resolve(report), 60_000);
    expect(await readiness()).toEqual(report);
  });

  test('every use of a stale key is counted', async () => {
    const metrics = createMetrics('ingest');
    const staleKeys = createStaleKeys(60_000, { log: createLog('test', 'silent'), metrics });
    staleKeys.noteUse();
    staleKeys.noteUse();
    expect((await metrics.staleKeyUses.get()).values[0]?.value).toBe(2);
  });
});
