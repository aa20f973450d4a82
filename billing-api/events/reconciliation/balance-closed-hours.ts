import { environmentKey } from '../../../contract/environment.js';
import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import { HOUR_MS, type InstantMs } from '../../../contract/instant.js';
import { readCheckpoints } from '../../usage/watermark/checkpoints.js';
import { boundsOf, createFinishedEvents, type HourOfEnvironment } from './finished-events.js';
import { readAllErasedHours, readErasingEnvironments, readErasureClock } from './erased-events.js';
import type { BillingDatabase } from '../../records/unit.js';

/** Closed hours of receipt that are balanced each time. */
const HOURS_BALANCED = 3;

/** The stores that a reconciliation compares. */
export type Engines = {
  readonly database: BillingDatabase;
  readonly clickHouse: ClickHouseQueries;
};

/**
 * How many events of the last closed hours are missing or too many: read from the log but not
 * stored, or stored without having been read. An hour with one event too few and another with one
 * too many are a difference of 2, not of 0. Environments in which events are being erased are left
 * out; events that still wait to be counted are no difference. @throws DependencyError.
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
