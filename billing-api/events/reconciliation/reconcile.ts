import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouse, ClickHouseQueries } from '../../../clickhouse/client.js';
import { HOUR_MS, MINUTE_MS, minuteOf, type InstantMs } from '../../../contract/instant.js';
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
import { findMetersToRecount, recountMeters } from './usage-recount.js';
import type { BillingDatabase } from '../../records/unit.js';

const CHECK_MS = MINUTE_MS;
/** Closed hours of receipt that are balanced each time. */
const HOURS_BALANCED = 3;
/** Hours of events' own time in which minutes are recounted, up to the last whole minute. */
const HOURS_RECOUNTED = 6;
/** Meters a time: the others follow in the next minutes, and then the first ones again. */
const METERS_RECOUNTED = 50;

/**
 * The server ends these reads before the client gives them up, and when it has: a read that nobody
 * waits for would only delay the next one.
 */
const READS: ClickHouseSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  max_execution_time: 55,
};

type Engines = { readonly database: BillingDatabase; readonly clickHouse: ClickHouseQueries };

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

/** What the last recount of every meter found, and where the next one goes on. */
export type RecountState = {
  behindId: string;
  /** Meters of the next recount: fewer after one that failed, since it may have taken too long. */
  metersMax: number;
  readonly drifts: Map<string, number>;
};

export function beginRecounts(): RecountState {
  return { behindId: '', metersMax: METERS_RECOUNTED, drifts: new Map() };
}

/**
 * Recounts the next meters from the stored events. When it fails, the next call takes half as many;
 * a single one that fails is left out until the next round, so that the others do not wait for it.
 * @returns the drift of all meters so far. @throws DependencyError.
 */
export async function recountNextMeters(
  { database, clickHouse }: Engines,
  state: RecountState,
  now: InstantMs,
): Promise<number> {
  const page = { behindId: state.behindId, limit: state.metersMax };
  const { meters, lastId } = await findMetersToRecount(database, page);
  const endMs = minuteOf(now);
  const minutes = { startMs: endMs - HOURS_RECOUNTED * HOUR_MS, endMs };
  const since = await readErasureClock(database);
  const bounds = boundsOf(await readCheckpoints(database));
  const found = await recountMeters(clickHouse, meters, { minutes, bounds }).catch(
    (error: unknown) => {
      if (state.metersMax === 1) state.behindId = lastId ?? '';
      state.metersMax = Math.max(1, Math.floor(state.metersMax / 2));
      throw error;
    },
  );
  state.metersMax = Math.min(METERS_RECOUNTED, 2 * state.metersMax);
  const erasing = await readErasingEnvironments(database, since);
  const erasingMeters = meters.filter((of) => erasing.has(environmentKey(of.environment)));
  const leftOut = new Set(erasingMeters.map(({ meter }) => meter.meterId));
  for (const [meterId, drift] of found) {
    // Minutes and events of these went meanwhile, one after the other.
    if (leftOut.has(meterId)) continue;
    if (drift === 0) state.drifts.delete(meterId);
    else state.drifts.set(meterId, drift);
  }
  // Behind the last meter the round begins anew.
  state.behindId = lastId ?? '';
  return [...state.drifts.values()].reduce((sum, drift) => sum + drift, 0);
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
    const drift = await recountNextMeters(engines, state, now);
    metrics.usageDrift.set(drift);
    metrics.reconciledAt.set(now / 1000);
    if (difference === 0 && drift === 0) return;
    log.error(
      { difference, drift, meters: [...state.drifts] },
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
