import { z } from 'zod';
import type { ClickHouse } from '../../../../clickhouse/client.js';
import { integerColumn } from '../../../../sql/columns.js';
import { identityOf } from '../load/ledger.js';
import { ENVIRONMENTS, STORED_AS, type UsageMeter } from '../load/usage-meter.js';
import type { World } from '../world/world.js';
import { eventTextOf, type EventText } from './read-log.js';
import { withPatientSession } from '../../../harness/patient-session.js';

const eventRow = z.object({
  environment_id: z.string(),
  event_id: z.string(),
  event_name: z.string(),
  customer_key: z.string(),
  customer_id: z.string().nullable(),
  source: z.string(),
  timestamp_ms: integerColumn,
  properties: z.record(z.string()),
});
const duplicateRow = z.object({
  environment_id: z.string(),
  event_id: z.string(),
  duplicates: integerColumn,
  conflicts: integerColumn,
});
const usageRow = z.object({
  customer_key: z.string(),
  minute_ms: integerColumn,
  source: z.string(),
  value: z.string(),
});
const totalsRow = z.object({
  ids: integerColumn,
  distinct_ids: integerColumn,
  wrong_markers: integerColumn,
  markers: integerColumn,
  accepted: integerColumn,
});
const deadLetterRow = z.object({
  partition: z.number(),
  offset: integerColumn,
  reason: z.string(),
  value: z.string(),
});
const generationsRow = z.object({ meter_id: z.string(), generations: z.array(z.string()) });

function environmentIndex(environmentId: string): number {
  return ENVIRONMENTS.findIndex((known) => known.environmentId === environmentId);
}

/** Rows of `events_v1` by identity; a well kept store has one each. */
export async function readEvents(
  clickhouse: ClickHouse,
): Promise<ReadonlyMap<string, readonly EventText[]>> {
  const rows = await clickhouse.query(
    `SELECT environment_id, event_id, event_name, customer_key, customer_id, source,
            toUnixTimestamp64Milli(timestamp) AS timestamp_ms, properties
     FROM events_v1`,
    {},
    eventRow,
  );
  const found = new Map<string, EventText[]>();
  for (const row of rows) {
    const isExternal = row.customer_key.startsWith('e:');
    const text = eventTextOf({
      name: row.event_name,
      external: isExternal ? row.customer_key.slice(2) : null,
      internal: row.customer_id,
      source: row.source,
      timestampMs: row.timestamp_ms,
      properties: row.properties,
    });
    const identity = identityOf(environmentIndex(row.environment_id), row.event_id);
    found.set(identity, [...(found.get(identity) ?? []), text]);
  }
  return found;
}

export type Duplicates = { readonly duplicates: number; readonly conflicts: number };

/** How often the stores have each id as a duplicate, and as a conflict. */
export async function readDuplicates(
  clickhouse: ClickHouse,
): Promise<ReadonlyMap<string, Duplicates>> {
  const rows = await clickhouse.query(
    `SELECT environment_id, event_id, count() AS duplicates, countIf(is_conflict) AS conflicts
     FROM event_duplicates_v1 FINAL GROUP BY environment_id, event_id`,
    {},
    duplicateRow,
  );
  return new Map(
    rows.map((row) => [
      identityOf(environmentIndex(row.environment_id), row.event_id),
      { duplicates: row.duplicates, conflicts: row.conflicts },
    ]),
  );
}

export type StoreTotals = z.output<typeof totalsRow>;

/** Figures without an oracle: rows of ids, batches, partitions whose batches are not there once. */
export async function readTotals(clickhouse: ClickHouse): Promise<StoreTotals> {
  const markers = `SELECT sum(event_count) AS offsets, sum(value_sum) AS batches,
      max(value_max) - min(value_min) AS expected FROM usage_minute_v1
    WHERE tenant_id = '' AND meter_id = '#batch' GROUP BY source`;
  const [row] = await clickhouse.query(
    `SELECT (SELECT count() FROM event_ids_v1) AS ids,
            (SELECT uniqExact(id_hash) FROM event_ids_v1) AS distinct_ids,
            (SELECT toInt64(sum(batches)) FROM (${markers})) AS markers,
            (SELECT countIf(offsets != expected) FROM (${markers})) AS wrong_markers,
            (SELECT sum(event_count) FROM usage_minute_v1 WHERE meter_id = '#accepted') AS accepted`,
    {},
    totalsRow,
  );
  if (row === undefined) throw new Error('no row of totals');
  return row;
}

/** The dead letters: records of the log that could not be decoded, with their places in the log. */
export function readDeadLetters(clickhouse: ClickHouse) {
  return clickhouse.query(
    `SELECT log_partition AS partition, log_offset AS offset, reason, payload AS value
     FROM dead_letters_v1 FINAL`,
    {},
    deadLetterRow,
  );
}

/** The rows that readers of a meter sum: those of its live stream and of its backfill. */
export async function readGenerations(world: World): Promise<ReadonlyMap<string, number[]>> {
  const rows = await withPatientSession(world.stores.databaseUrl, async (session) => {
    const result = await session.query(
      'SELECT meter_id, read_generations::text[] AS generations FROM meter_versions',
    );
    return z.array(generationsRow).parse(result.rows);
  });
  return new Map(rows.map((row) => [row.meter_id, row.generations.map(Number)]));
}

/** Usage of one meter by customer, minute and source; keys as the oracle makes them. */
export async function readUsage(
  world: World,
  meter: UsageMeter,
  generations: readonly number[],
): Promise<ReadonlyMap<string, string>> {
  const environment = ENVIRONMENTS[meter.environment];
  const rows = await world.clickhouse.query(
    `SELECT customer_key, toUnixTimestamp64Milli(toDateTime64(minute, 3, 'UTC')) AS minute_ms, source,
            ${STORED_AS[meter.aggregation]} AS value
     FROM usage_minute_v1
     WHERE tenant_id = {tenant:String} AND environment_id = {environment:String}
       AND meter_id = {meter:String} AND has({generations:Array(UInt64)}, generation)
     GROUP BY customer_key, minute, source`,
    {
      tenant: environment?.tenantId ?? '',
      environment: environment?.environmentId ?? '',
      meter: meter.meterId,
      generations,
    },
    usageRow,
  );
  return new Map(
    rows.map((row) => [`${row.customer_key}|${row.minute_ms}|${row.source}`, row.value]),
  );
}

/** Whether anything is stored for a customer on a meter, whoever reads it. */
export async function hasUsage(
  world: World,
  meter: UsageMeter,
  customerKey: string,
): Promise<boolean> {
  const rows = await world.clickhouse.query(
    `SELECT meter_id FROM usage_minute_v1
     WHERE meter_id = {meter:String} AND customer_key = {customer:String} LIMIT 1`,
    { meter: meter.meterId, customer: customerKey },
    z.object({ meter_id: z.string() }),
  );
  return rows.length > 0;
}
