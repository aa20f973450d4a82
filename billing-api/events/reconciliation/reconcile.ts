import type { ClickHouse } from '../../../clickhouse/client.js';
import { HOUR_MS, MINUTE_MS, minuteOf, type InstantMs } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import { messageOf } from '../../../runtime/failure.js';
import type { Log } from '../../../runtime/log.js';
import type { Metrics } from '../../../runtime/metrics.js';
import { readCheckpoints } from '../../usage/watermark/checkpoints.js';
import { boundsOf, createFinishedEvents, type HourOfEnvironment } from './finished-events.js';
import { findMetersToRecount, recountMeters } from './usage-recount.js';
import type { BillingDatabase } from '../../records/unit.js';

const CHECK_MS = MINUTE_MS;
/** Closed hours of receipt that are balanced each time. */
const HOURS_BALANCED = 3;
/** Hours of events' own time in which minutes are recounted, up to the last whole minute. */
const HOURS_RECOUNTED = 6;
/** Meters a time: the others follow in the next minutes, and then the first ones again. */
const METERS_RECOUNTED = 50;

type Engines = { readonly database: BillingDatabase; readonly clickHouse: ClickHouse };

/**
 * Events of the last closed hours, of all environments, that were decoded and are not stored, or
 * stored and not decoded: the sum of the differences without their signs, so that none hides
 * another. What is pending belongs to neither side. @throws DependencyError.
 */
export async function balanceClosedHours(engines: Engines, now: InstantMs): Promise<number> {
  const finished = createFinishedEvents(engines.clickHouse);
  const endMs = Math.floor(now / HOUR_MS) * HOUR_MS;
  const hours = { startMs: endMs - HOURS_BALANCED * HOUR_MS, endMs };
  const bounds = boundsOf(await readCheckpoints(engines.database));
  // First what was accepted: the bounds that it gives decide what of the rest is counted.
  const accepted = await finished.accepted({ environment: null, hours, bounds });
  const copies = await finished.storedByHour({ environment: null, hours, bounds: accepted.bounds });
  const differences = new Map<string, number>();
  const add = (of: HourOfEnvironment, events: number): void => {
    const { tenantId, environmentId } = of.environment;
    const key = `${tenantId}|${environmentId}|${of.hourMs}`;
    differences.set(key, (differences.get(key) ?? 0) + events);
  };
  for (const hour of accepted.hours) add(hour, hour.accepted);
  for (const hour of copies) add(hour, -hour.copies);
  return [...differences.values()].reduce((sum, difference) => sum + Math.abs(difference), 0);
}

/** What the last recount of every meter found, and where the next one goes on. */
export type RecountState = { behindId: string; readonly drifts: Map<string, number> };

/** Recounts the next meters from the stored events. @returns the drift of all meters so far. */
export async function recountNextMeters(
  { database, clickHouse }: Engines,
  state: RecountState,
  now: InstantMs,
): Promise<number> {
  const page = { behindId: state.behindId, limit: METERS_RECOUNTED };
  const { meters, lastId } = await findMetersToRecount(database, page);
  const endMs = minuteOf(now);
  const minutes = { startMs: endMs - HOURS_RECOUNTED * HOUR_MS, endMs };
  const bounds = boundsOf(await readCheckpoints(database));
  const found = await recountMeters(clickHouse, meters, { minutes, bounds });
  for (const [meterId, drift] of found) {
    if (drift === 0) state.drifts.delete(meterId);
    else state.drifts.set(meterId, drift);
  }
  // Behind the last meter the round begins anew.
  state.behindId = lastId ?? '';
  return [...state.drifts.values()].reduce((sum, drift) => sum + drift, 0);
}

/**
 * Once a minute, compares accepted with stored events, recounts some meters, and writes the result
 * to metrics (docs/architecture.md I5). A check that fails leaves the figures of the last one; the
 * metric beside them says when they were found. Any number of processes may do this, because each
 * of them only reads.
 * @returns a function that stops the checks.
 */
export function startReconciliation(
  program: Engines & { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): () => Promise<void> {
  const { clock, log, metrics } = program;
  const state: RecountState = { behindId: '', drifts: new Map() };
  const check = async (): Promise<void> => {
    const now = clock.now();
    const difference = await balanceClosedHours(program, now);
    metrics.reconciliationDifference.set(difference);
    const drift = await recountNextMeters(program, state, now);
    metrics.usageDrift.set(drift);
    metrics.reconciledAt.set(now / 1000);
    if (difference === 0 && drift === 0) return;
    log.error(
      { difference, drift, meters: [...state.drifts] },
      'the reconciliation found a difference',
    );
  };
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    // One that takes longer than a minute is not started twice.
    running ??= check()
      .catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'the reconciliation failed');
      })
      .finally(() => {
        running = null;
      });
  }, CHECK_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
