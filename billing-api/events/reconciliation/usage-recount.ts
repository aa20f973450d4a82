import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import type { Interval } from '../../../contract/instant.js';
import { integerColumn } from '../../../sql/columns.js';
import { boundParameters, countingMeter, type PartitionBound } from './finished-events.js';
import { readEffectiveMeters, type EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { queryFile, withLongTexts } from '../../records/query-file.js';
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
    const key = `${tenantId}|${environmentId}`;
    const group = groups.get(key) ?? { environment: { tenantId, environmentId }, ids: [] };
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

function recountQueryOf({ environment, meter }: RecountedMeter, number: number) {
  return {
    number,
    tenant_id: environment.tenantId,
    environment_id: environment.environmentId,
    meter_id: meter.meterId,
    generations: meter.generations,
    ...countingMeter(meter),
  };
}

/** Whether retention has removed events of the hour of a cell, so that it cannot be recounted. */
function isExpired(
  meters: readonly RecountedMeter[],
  key: string,
  expired: ReadonlySet<string>,
): boolean {
  const [number, hourMs] = key.split('|').map(Number);
  const recounted = meters[number ?? -1];
  if (recounted === undefined || hourMs === undefined) return false;
  const { environment, meter } = recounted;
  return expired.has(expiredHourKey(environment, { eventName: meter.eventName, hourMs }));
}

/**
 * How many events each meter's minute rows have too many or too few, by meter id, in whole minutes
 * of the events' own time. While batches are being written the rows may hold any part of these, so
 * at least the finished events and at most all that are stored are right; the bounds must have been
 * read before. @throws DependencyError when ClickHouse fails.
 */
export async function recountMeters(
  clickHouse: ClickHouseQueries,
  meters: readonly RecountedMeter[],
  of: { readonly minutes: Interval; readonly bounds: readonly PartitionBound[] },
): Promise<ReadonlyMap<string, number>> {
  const drifts = new Map(meters.map(({ meter }) => [meter.meterId, 0]));
  if (meters.length === 0) return drifts;
  const bounds = boundParameters(of.bounds);
  const texts = { meters: JSON.stringify(meters.map(recountQueryOf)), ...bounds.texts };
  const range = { fromMs: of.minutes.startMs, toMs: of.minutes.endMs };
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
  const counted = new Map(minutes.map((row) => [cellKey(row), row]));
  const stored = new Map(events.map((row) => [cellKey(row), row]));
  for (const key of new Set([...counted.keys(), ...stored.keys()])) {
    if (isExpired(meters, key, expired)) continue;
    const inMinutes = counted.get(key)?.counted ?? 0;
    const inEvents = stored.get(key) ?? { finished: 0, stored: 0 };
    const drift = Math.max(0, inEvents.finished - inMinutes, inMinutes - inEvents.stored);
    const meterId = meters[Number(key.split('|', 1)[0])]?.meter.meterId ?? '';
    drifts.set(meterId, (drifts.get(meterId) ?? 0) + drift);
  }
  return drifts;
}
