import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { withLongTexts } from '../../../clickhouse/query-file.js';
import type { ClickHouse, QueryParameters } from '../../../clickhouse/client.js';
import type { InstantMs } from '../../../contract/instant.js';
import { integerColumn } from '../../../sql/columns.js';
import { VerbRefused } from '../../stack/verb-refused.js';
import type { Erasure, Generations } from './erasures-store.js';
import { keysOf } from './named-customer.js';

/** The offsets of a partition from its begin up to here. */
export type Bound = { readonly log: string; readonly partition: number; readonly below: number };
/** The last finished batch of a partition. */
export type LastBatch = Bound & { readonly start: number };

export type HourEvents = { readonly hourMs: InstantMs; readonly events: number };
export type BatchEvents = {
  readonly log: string;
  readonly partition: number;
  readonly start: number;
  readonly events: number;
};

type Of = Pick<Erasure, 'environment' | 'customer'>;

const POLL_MS = 100;
/** How long a rewrite may fail, again and again, before an operator must look. */
const FAILING_MAX_MS = 30_000;

const OF_CUSTOMER = `tenant_id = {tenant_id:String} AND environment_id = {environment_id:String}
  AND customer_key IN {customer_keys:Array(String)}`;
const BELOW_BOUNDS = `arrayExists(b -> tupleElement(b, 'log') = log_id
  AND tupleElement(b, 'partition') = log_partition AND log_offset < tupleElement(b, 'below'),
  JSONExtract({bounds:String}, 'Array(Tuple(log String, partition UInt32, below UInt64))'))`;

/**
 * Duplicates of the customer's events, and those that name the customer themselves. The ids are
 * compared by hashes of eight bytes, since there may be many; and they are not narrowed to those
 * that have duplicates, since a rewrite that asks its own table never ends (ClickHouse 26.7).
 */
const DUPLICATES_OF_CUSTOMER = `tenant_id = {tenant_id:String}
  AND environment_id = {environment_id:String} AND event_id != '' AND ${BELOW_BOUNDS}
  AND (cityHash64(event_id) IN (SELECT cityHash64(event_id) FROM events_v1 WHERE ${OF_CUSTOMER})
    OR (is_conflict AND (
      JSONExtractString(payload, 'external_customer_id') IN {external_ids:Array(String)}
      OR JSONExtractString(payload, 'customer_id') IN {ids:Array(String)})))`;

/** How the events of the customer count by corrections, of whichever customer they became. */
const CORRECTIONS_OF_CUSTOMER = `tenant_id = {tenant_id:String}
  AND environment_id = {environment_id:String} AND (log_id, log_partition, log_offset, record_index)
    IN (SELECT log_id, log_partition, log_offset, record_index FROM events_v1
        WHERE ${OF_CUSTOMER} AND ${BELOW_BOUNDS})`;
const GIVEN_TO_CUSTOMER = `tenant_id = {tenant_id:String}
  AND environment_id = {environment_id:String}
  AND new_customer_key IN {customer_keys:Array(String)} AND ${BELOW_BOUNDS}`;

/**
 * Letters that name the environment and have a reference of the customer as a text of their own.
 * They could not be decoded, so this is all that can be asked.
 */
const LETTERS_OF_CUSTOMER = `${BELOW_BOUNDS}
  AND (position(payload, concat('"t":', {tenant_text:String}, ',"e":', {environment_text:String}))
      > 0
    OR (JSONExtractString(payload, 't') = {tenant_id:String}
      AND JSONExtractString(payload, 'e') = {environment_id:String}))
  AND arrayExists(text -> position(payload, text) > 0, {texts:Array(String)})`;

function parametersOf({ environment, customer }: Of): QueryParameters {
  const { externalIds, ids } = customer;
  return {
    tenant_id: environment.tenantId,
    environment_id: environment.environmentId,
    customer_keys: keysOf(customer),
    external_ids: externalIds,
    ids,
    tenant_text: JSON.stringify(environment.tenantId),
    environment_text: JSON.stringify(environment.environmentId),
    texts: [...externalIds, ...ids].map((text) => JSON.stringify(text)),
  };
}

/** The statement, with the bounds as parameters: there may be many partitions. */
function bounded(statement: string, of: Of, bounds: readonly Bound[]) {
  const long = withLongTexts(statement, { bounds: JSON.stringify(bounds) });
  const parameters = { ...parametersOf(of), ...long.parameters };
  return { statement: long.statement, parameters };
}

const found = z.object({ rows: integerColumn });

async function count(
  clickhouse: ClickHouse,
  from: string,
  { of, bounds }: { readonly of: Of; readonly bounds: readonly Bound[] },
): Promise<number> {
  const { statement, parameters } = bounded(`SELECT count() AS rows FROM ${from}`, of, bounds);
  const [row] = await clickhouse.query(statement, parameters, found);
  return row?.rows ?? 0;
}

/** Stored events of the customer. */
export function countEvents(clickhouse: ClickHouse, of: Of): Promise<number> {
  return count(clickhouse, `events_v1 WHERE ${OF_CUSTOMER}`, { of, bounds: [] });
}

/** Stored events of the customer below the bounds by hour of receipt, without expired ones. */
export function countEventsByHour(
  clickhouse: ClickHouse,
  of: Of & Pick<Erasure, 'eventsBeginMs'>,
  bounds: readonly Bound[],
): Promise<readonly HourEvents[]> {
  const row = z.object({ hourMs: integerColumn, events: integerColumn });
  const { statement, parameters } = bounded(
    `SELECT intDiv(toUnixTimestamp64Milli(received_at), 3600000) * 3600000 AS hourMs,
       count() AS events
     FROM events_v1 WHERE ${OF_CUSTOMER} AND ${BELOW_BOUNDS}
       AND appended_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
     GROUP BY hourMs ORDER BY hourMs`,
    of,
    bounds,
  );
  return clickhouse.query(statement, { ...parameters, from_ms: of.eventsBeginMs ?? 0 }, row);
}

/** Stored events of the customer in the last batch of each partition. */
export async function countEventsOfBatches(
  clickhouse: ClickHouse,
  of: Of,
  batches: readonly LastBatch[],
): Promise<readonly BatchEvents[]> {
  const place = z.object({ log: z.string(), partition: z.number(), events: integerColumn });
  const { statement, parameters } = bounded(
    `SELECT toString(log_id) AS log, log_partition AS partition, count() AS events
     FROM events_v1
     WHERE ${OF_CUSTOMER} AND arrayExists(b -> tupleElement(b, 'log') = log_id
       AND tupleElement(b, 'partition') = log_partition AND log_offset < tupleElement(b, 'below')
       AND log_offset >= tupleElement(b, 'start'), JSONExtract({bounds:String},
         'Array(Tuple(log String, partition UInt32, below UInt64, start UInt64))'))
     GROUP BY log, partition`,
    of,
    batches,
  );
  const rows = await clickhouse.query(statement, parameters, place);
  return rows.flatMap(({ log, partition, events }) => {
    const batch = batches.find((last) => last.log === log && last.partition === partition);
    return batch === undefined ? [] : [{ log, partition, start: batch.start, events }];
  });
}

/** What an erasure removes beside the events and their usage. */
export type RemovedRows = { readonly duplicates: number; readonly letters: number };

export async function countOtherRows(
  clickhouse: ClickHouse,
  of: Of,
  bounds: readonly Bound[],
): Promise<RemovedRows> {
  const within = { of, bounds };
  return {
    duplicates: await count(
      clickhouse,
      `event_duplicates_v1 FINAL WHERE ${DUPLICATES_OF_CUSTOMER}`,
      within,
    ),
    letters: await count(clickhouse, `dead_letters_v1 FINAL WHERE ${LETTERS_OF_CUSTOMER}`, within),
  };
}

/**
 * Has ClickHouse rewrite the minutes without those of the customer. It takes what is stored at this
 * moment, however long it works; minutes that are written afterwards stay.
 */
export async function beginRemovingMinutes(clickhouse: ClickHouse, of: Of): Promise<void> {
  await clickhouse.command(
    `ALTER TABLE usage_minute_v1 DELETE WHERE ${OF_CUSTOMER} SETTINGS mutations_sync = 0`,
    parametersOf(of),
  );
}

const mutationRow = z.object({ reason: z.string() });

/** Waits until ClickHouse has rewritten the minutes. @throws VerbRefused when it cannot. */
export async function awaitMinutes(clickhouse: ClickHouse): Promise<void> {
  let workingAtMs = performance.now();
  for (;;) {
    const [rewrite] = await clickhouse.query(
      `SELECT max(latest_fail_reason) AS reason FROM system.mutations
       WHERE database = currentDatabase() AND table = 'usage_minute_v1' AND NOT is_done
       HAVING count() > 0`,
      {},
      mutationRow,
    );
    if (rewrite === undefined) return;
    const nowMs = performance.now();
    if (rewrite.reason === '') workingAtMs = nowMs;
    if (nowMs - workingAtMs > FAILING_MAX_MS) {
      throw new VerbRefused(`ClickHouse cannot rewrite usage_minute_v1: ${rewrite.reason}`);
    }
    await delay(POLL_MS);
  }
}

/**
 * Removes the customer's events below the bounds, and what else holds their texts. Duplicates keep
 * their row without its texts: they are in the books as duplicates. They are found by the ids of
 * the events, so the events go last. Repeating it does no harm.
 */
export async function removeRows(
  clickhouse: ClickHouse,
  of: Of,
  bounds: readonly Bound[],
): Promise<void> {
  const rewrites = [
    `event_corrections_v1 DELETE WHERE ${CORRECTIONS_OF_CUSTOMER}`,
    // An event of somebody else that was given to the customer counts for nobody any more.
    `event_corrections_v1 UPDATE effect = 'withdrawn', new_customer_id = NULL, new_customer_key = '',
       new_properties = CAST(map(), 'Map(LowCardinality(String), String)')
     WHERE ${GIVEN_TO_CUSTOMER}`,
    `corrected_minutes_v1 DELETE WHERE ${OF_CUSTOMER}`,
    `event_duplicates_v1 UPDATE event_id = '', payload = '', is_conflict = false
     WHERE ${DUPLICATES_OF_CUSTOMER}`,
    `dead_letters_v1 DELETE WHERE ${LETTERS_OF_CUSTOMER}`,
    `events_v1 DELETE WHERE ${OF_CUSTOMER} AND ${BELOW_BOUNDS}`,
  ];
  for (const rewrite of rewrites) {
    const text = `ALTER TABLE ${rewrite} SETTINGS mutations_sync = 1`;
    const { statement, parameters } = bounded(text, of, bounds);
    await clickhouse.command(statement, parameters);
  }
}

/** Removes minutes of the customer that attempts of backfills wrote which were given up. */
export async function removeUnreadMinutes(
  clickhouse: ClickHouse,
  of: Of,
  { kept, last }: Generations,
): Promise<void> {
  await clickhouse.command(
    `ALTER TABLE usage_minute_v1 DELETE WHERE ${OF_CUSTOMER} AND generation <= {last:UInt64}
       AND NOT has({kept:Array(UInt64)}, generation) SETTINGS mutations_sync = 1`,
    { ...parametersOf(of), last, kept },
  );
}
