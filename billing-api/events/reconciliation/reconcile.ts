import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouse, ClickHouseQueries } from '../../../clickhouse/client.js';
import { HOUR_MS, MINUTE_MS, type InstantMs } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import { messageOf } from '../../../runtime/failure.js';
import type { Log } from '../../../runtime/log.js';
import type { Metrics } from '../../../runtime/metrics.js';
import { readCheckpoints } from '../../usage/watermark/checkpoints.js';
import { boundsOf, createFinishedEvents, type HourOfEnvironment } from './finished-events.js';
import {
  environmentKey,
  readAllErasedHours,
  readErasingEnvironments,
  readErasureClock,
} from './erased-events.js';
import { beginRecounts, recountForAWhile, sumOfDrifts } from './recount-turns.js';
import type { BillingDatabase } from '../../records/unit.js';

const CHECK_MS = MINUTE_MS;
/** Closed hours of receipt that are balanced each time. */
const HOURS_BALANCED = 3;
const DRIFTS_LOGGED = 20;

/**
 * The server ends these reads before the client gives them up, and when it has: a read that nobody
 * waits for would only delay the next one.
 */
const READS: ClickHouseSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  max_execution_time: 55,
};

export type Engines = {
  readonly database: BillingDatabase;
  readonly clickHouse: ClickHouseQueries;
};

/**
 * Events of the last closed hours, of all environments, that were decoded and are not stored, or
 * stored and not decoded: the sum of the differences without their signs, so that none hides
 * another. What is pending belongs to neither side, and an environment is left out while events of
 * it are being erased. @throws DependencyError.
 */
export async function balanceClosedHours(engines: Engines, now: InstantMs): Promise<number> {
  const finished = createFinishedEvents(engines.clickHouse);
  const endMs = Math.floor(now / HOUR_MS) * HOUR_MS;
  const hours = { startMs: endMs - HOURS_BALANCED * HOUR_MS, endMs };
  const since = await readErasureClock(engines.database);
  const bounds = boundsOf(await readCheckpoints(engines.database));
  // First what was accepted: the bounds that it gives decide what of the rest is counted.
  const accepted = await finished.accepted({ environment: null, hours, bounds });
  const copies = await finished.storedByHour({ environment: null, hours, bounds: accepted.bounds });
  const erased = await readAllErasedHours(engines.database, hours);
  // Last of all: what these hold was read while events went.
  const erasing = await readErasingEnvironments(engines.database, since);
  const differences = new Map<string, number>();
  const add = (of: HourOfEnvironment, events: number): void => {
    if (erasing.has(environmentKey(of.environment))) return;
    const key = `${environmentKey(of.environment)}|${of.hourMs}`;
    differences.set(key, (differences.get(key) ?? 0) + events);
  };
  for (const hour of accepted.hours) add(hour, hour.accepted);
  for (const hour of copies) add(hour, -hour.copies);
  for (const hour of erased) add(hour, -hour.erased);
  return [...differences.values()].reduce((sum, difference) => sum + Math.abs(difference), 0);
}

/**
 * Now and once a minute, compares accepted with stored events, recounts some meters, and writes the
 * result to metrics (docs/architecture.md I5). A check that fails leaves the figures of the last
 * one; the metric beside them says when they were found. Any number of processes may do this,
 * because each of them only reads.
 * @returns a function that stops the checks.
 */
export function startReconciliation(program: {
  readonly database: BillingDatabase;
  readonly clickHouse: ClickHouse;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}): () => Promise<void> {
  const { database, clock, log, metrics } = program;
  const engines = { database, clickHouse: program.clickHouse.withOptions({ settings: READS }) };
  const state = beginRecounts();
  const check = async (): Promise<void> => {
    const now = clock.now();
    const difference = await balanceClosedHours(engines, now);
    metrics.reconciliationDifference.set(difference);
    await recountForAWhile(engines, state, now);
    const drift = sumOfDrifts(state);
    metrics.usageDrift.set(drift);
    metrics.reconciledAt.set(now / 1000);
    if (difference === 0 && drift === 0) return;
    log.error(
      { difference, drift, drifts: state.drifts.slice(0, DRIFTS_LOGGED) },
      'the reconciliation found a difference',
    );
  };
  let running: Promise<void> | null = null;
  const begin = (): void => {
    // One that takes longer than a minute is not started twice.
    running ??= check()
      .catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'the reconciliation failed');
      })
      .finally(() => {
        running = null;
      });
  };
  // At once, too: a program that is started again often would otherwise never compare anything.
  begin();
  const timer = setInterval(begin, CHECK_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
