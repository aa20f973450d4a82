import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import { environmentKey, type Environment } from '../../../contract/environment.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { integerColumn } from '../../../sql/columns.js';
import { boundParameters, placeFilters, type PartitionBound } from './finished-events.js';
import { readEffectiveMeters, type EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { queryFile, withLongTexts } from '../../../clickhouse/query-file.js';
import { expiredHourKey, listExpiredHours } from '../../usage/expired/expired-events.js';
import type { BillingDatabase } from '../../records/unit.js';

const RECOUNT_MINUTES = queryFile('recount-usage-minutes');
const RECOUNT_EVENTS = queryFile('recount-usage-events');

const cell = { number: z.number().int(), hour_ms: integerColumn, customers: z.coerce.number() };
const minutesRow = z.object({ ...cell, counted: integerColumn });
const eventsRow = z.object({ ...cell, finished: integerColumn, stored: integerColumn });

/** A meter with rows to recount, of any tenant. */
export type RecountedMeter = {
  readonly environment: Environment;
  readonly meter: EffectiveMeter;
};

const meterRow = z.object({
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
});

/** Meters behind an id in order of their ids, of all tenants; only those that show numbers. */
export async function findMetersToRecount(
  database: BillingDatabase,
  page: { readonly behindId: string; readonly limit: number },
): Promise<{ readonly meters: readonly RecountedMeter[]; readonly lastId: string | null }> {
  const rows = await database.slonik.any(sql.type(meterRow)`
    SELECT id, tenant_id, environment_id
    FROM list_meters_to_recount(${page.behindId}, ${page.limit}) ORDER BY id`);
  const groups = new Map<string, { readonly environment: Environment; readonly ids: string[] }>();
  for (const { id, tenant_id: tenantId, environment_id: environmentId } of rows) {
    const environment = { tenantId, environmentId };
    const key = environmentKey(environment);
    const group = groups.get(key) ?? { environment, ids: [] };
    group.ids.push(id);
    groups.set(key, group);
  }
  const meters: RecountedMeter[] = [];
  for (const { environment, ids } of groups.values()) {
    for (const meter of (await readEffectiveMeters(database, environment, ids)).values()) {
      if (meter.generations.length > 0) meters.push({ environment, meter });
    }
  }
  return { meters, lastId: rows.at(-1)?.id ?? null };
}

const cellKey = (row: { number: number; hour_ms: number; customers: number }): string =>
  `${row.number}|${row.hour_ms}|${row.customers}`;

/** The meters of both queries, by their place in the list. */
function recountTexts(recounted: readonly RecountedMeter[]) {
  const { keys, texts, compared } = placeFilters(recounted.map(({ meter }) => meter));
  const meters = recounted.map(({ environment, meter }, number) => ({
    number,
    tenant_id: environment.tenantId,
    environment_id: environment.environmentId,
    meter_id: meter.meterId,
    generations: meter.generations,
    ...compared[number],
  }));
  const ends = compared.flatMap((meter) => (meter.is_ended ? [meter.ends] : []));
  return {
    meters: JSON.stringify(meters),
    ends: JSON.stringify(ends),
    keys: JSON.stringify(keys),
    texts: JSON.stringify(texts),
  };
}

/** Customers are recounted by groups of the hash of their key, as the queries number them. */
export const CUSTOMER_GROUPS = 64;

/** What is recounted at a time. */
export type RecountPart = {
  /** Whole minutes of the events' own time. */
  readonly minutes: Interval;
  /** Groups of customers: from the first to before the second. */
  readonly groups: readonly [from: number, to: number];
};

/** How many events the rows of one meter, hour and group of customers have too many or too few. */
export type Drift = {
  readonly meterId: string;
  readonly hourMs: InstantMs;
  readonly group: number;
  readonly events: number;
};

/** Cells whose events have expired, at least some of them, cannot be recounted. */
function isExpired(
  { environment, meter }: RecountedMeter,
  hourMs: InstantMs,
  expired: ReadonlySet<string>,
): boolean {
  return expired.has(expiredHourKey(environment, { eventName: meter.eventName, hourMs }));
}

/**
 * Compares the minute rows of meters with the stored events. While batches are being written the
 * rows may hold any part of these, so at least the finished events and at most all that are stored
 * are right; the bounds must have been read before.
 * @returns where they differ. @throws DependencyError when ClickHouse fails.
 */
export async function recountMeters(
  clickHouse: ClickHouseQueries,
  meters: readonly RecountedMeter[],
  of: RecountPart & { readonly bounds: readonly PartitionBound[] },
): Promise<readonly Drift[]> {
  if (meters.length === 0) return [];
  const bounds = boundParameters(of.bounds);
  const texts = { ...recountTexts(meters), ...bounds.texts };
  const [groupsFrom, groupsTo] = of.groups;
  const range = { fromMs: of.minutes.startMs, toMs: of.minutes.endMs, groupsFrom, groupsTo };
  const within = { ...range, ...bounds.lists };
  const read = <Row extends z.ZodTypeAny>(query: string, row: Row) => {
    const { statement, parameters } = withLongTexts(query, texts);
    return clickHouse.query(statement, { ...within, ...parameters }, row);
  };
  // The rows first: what is in them is then among the events that are read afterwards.
  const minutes = await read(RECOUNT_MINUTES, minutesRow);
  const events = await read(RECOUNT_EVENTS, eventsRow);
  // Last: what was removed meanwhile had been counted there before.
  const expired = await listExpiredHours(clickHouse, of.minutes);
  const counted = new Map(minutes.map((row) => [cellKey(row), row.counted]));
  const stored = new Map(events.map((row) => [cellKey(row), row]));
  const cells = new Map([...minutes, ...events].map((row) => [cellKey(row), row]));
  return [...cells].flatMap(([key, { number, hour_ms: hourMs, customers: group }]): Drift[] => {
    const recounted = meters[number];
    if (recounted === undefined || isExpired(recounted, hourMs, expired)) return [];
    const inMinutes = counted.get(key) ?? 0;
    const inEvents = stored.get(key) ?? { finished: 0, stored: 0 };
    const difference = Math.max(0, inEvents.finished - inMinutes, inMinutes - inEvents.stored);
    const { meterId } = recounted.meter;
    return difference === 0 ? [] : [{ meterId, hourMs, group, events: difference }];
  });
}
