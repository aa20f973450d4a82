import { expect } from 'vitest';
import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics, type Metrics } from '../../runtime/metrics.js';
import { createJobWorld } from '../testing/job-world.js';
import { defineJob } from './job.js';
import { showBacklog } from './show-backlog.js';

const NOW = Date.parse('2026-11-20T10:00:00.000Z');
const { signal: GOES_ON } = new AbortController();

async function valueOf(gauge: Metrics['jobsDue'], job: string): Promise<number | undefined> {
  const { values } = await gauge.get();
  return values.find(({ labels }) => labels.job === job)?.value;
}

test('every process shows what is due, failing and parked, and what a scheduled job found, whoever ran it', async ({
  database: { database },
}) => {
  const world = await createJobWorld(database);
  const failing = defineJob({
    name: 'failing',
    input: z.object({ n: z.number() }),
    key: ({ n }) => `${n}`,
    retry: { tries: 2, firstPauseMs: 10_000 },
    inTransaction: () => Promise.reject(new Error('no')),
  });
  const finding = defineJob({
    name: 'finding',
    input: z.object({}),
    schedule: { everyMs: MINUTE_MS },
    state: z.object({ found: z.number() }),
    inTransaction: () => Promise.resolve({ state: { found: 7 } }),
    show: ({ found }, metrics) => metrics.usageDrift.set(found),
  });
  const jobs = [failing, finding];
  await world.declare(jobs, NOW);
  const runner = world.runnerOf(jobs, {});
  await world.enqueue(failing, { n: 1 }, { now: NOW });
  while (await runner.runNext(NOW, GOES_ON));
  await world.enqueue(failing, { n: 2 }, { now: NOW + 5_000 });
  while (await runner.runNext(NOW + 11_000, GOES_ON));
  await world.enqueue(failing, { n: 3 }, { now: NOW, dueAt: NOW + MINUTE_MS });
  // A process that has run nothing.
  const metrics = createMetrics();
  const log = createLog('test', 'silent');
  await showBacklog({ database, jobs, needs: {}, log, metrics }, NOW + 12_000);
  expect(await valueOf(metrics.jobsDue, 'failing')).toBe(1);
  expect(await valueOf(metrics.jobWait, 'failing')).toBe(7);
  expect(await valueOf(metrics.jobFailures, 'failing')).toBe(1);
  expect(await valueOf(metrics.jobsParked, 'failing')).toBe(1);
  expect(await valueOf(metrics.jobLastRun, 'finding')).toBe(NOW / 1_000);
  expect(await valueOf(metrics.jobsDue, 'finding')).toBe(0);
  expect((await metrics.usageDrift.get()).values[0]?.value).toBe(7);
});
