import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ClickHouse, QueryParameters } from '../../clickhouse/client.js';
import { correctedEvents } from '../../clickhouse/corrected-events.js';
import type { Environment } from '../../contract/environment.js';
import { MINUTE_MS, type InstantMs, type Interval } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { PartitionEnd } from '../domain/usage/watermark.js';
import type { EventPosition } from '../events/event-positions.js';
import { eventColumns, eventFromRow, type StoredEvent } from '../events/events-store.js';

/** An event as it counts, or as it shall count. */
export type CountedEvent = Omit<StoredEvent, 'correction'> & {
  readonly appendedAtMs: InstantMs;
  readonly isTimestampGiven: boolean;
};

/** How an event counts under a correction. */
export type CorrectedEvent = {
  readonly effect: 'amended' | 'withdrawn' | 'added';
  readonly before: CountedEvent;
  readonly after: Pick<CountedEvent, 'customerKey' | 'customerId' | 'timestampMs' | 'properties'>;
};

/** Events of a name that a filter finds. */
export type EventFilter = {
  readonly eventName: string;
  readonly window: Interval;
  /** Null for everybody. */
  readonly customerKeys: readonly string[] | null;
  readonly source: string | null;
  readonly properties: readonly (readonly [key: string, values: readonly string[]])[];
};

/** What becomes of the events of a filter; null withdraws them. */
export type FilterChange = {
  readonly set: Readonly<Record<string, string>>;
  readonly removed: readonly string[];
  readonly customerKey: string | null;
} | null;

/** Under which number, and over which corrections, events are corrected. */
export type CorrectionTarget = {
  readonly environment: Environment;
  readonly number: number;
  /** Those in force when it is prepared. */
  readonly inForce: readonly number[];
  /** Events below these ends only: they are stored for good. */
  readonly ends: readonly PartitionEnd[];
};

const eventRow = z
  .object({ ...eventColumns, appended_ms: integerColumn, is_timestamp_given: z.boolean() })
  .transform((row): CountedEvent => ({
    ...eventFromRow(row),
    appendedAtMs: row.appended_ms,
    isTimestampGiven: row.is_timestamp_given,
  }));

const ENVIRONMENT = 'tenant_id = {tenantId:String} AND environment_id = {environmentId:String}';

/** Nothing is in force under the number 0; a fragment with it reads as without corrections. */
function eventsInForce(scope: string, raw: string, { inForce }: CorrectionTarget): string {
  const of = { scope, corrections: '{inForce:Array(UInt64)}' };
  return correctedEvents(inForce.length === 0 ? null : of, raw);
}

const IS_FINISHED = `e.log_offset < transform(concat(toString(e.log_partition), ':', toString(e.log_id)),
  {endNames:Array(String)}, {endOffsets:Array(UInt64)}, toUInt64(0))`;

function targetParameters({ environment, number, inForce, ends }: CorrectionTarget) {
  return {
    ...environment,
    number,
    inForce,
    endNames: ends.map(({ log, partition }) => `${partition}:${log}`),
    endOffsets: ends.map(({ countedBelow }) => countedBelow),
  };
}

/** FROM … WHERE … of the events that a filter finds. */
function filtered(
  target: CorrectionTarget,
  filter: EventFilter,
): { readonly from: string; readonly parameters: QueryParameters } {
  const { eventName, window, customerKeys, source, properties } = filter;
  const at = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
  const parameters: Record<string, QueryParameters[string]> = {
    ...targetParameters(target),
    eventName,
    fromMs: window.startMs,
    toMs: window.endMs,
    sources: source === null ? [] : [source],
  };
  const ofProperties = properties.map(([key, values], place) => {
    parameters[`key${place}`] = key;
    parameters[`values${place}`] = values;
    return `mapContains(e.properties, {key${place}:String}) AND e.properties[{key${place}:String}] IN {values${place}:Array(String)}`;
  });
  const scope = `${ENVIRONMENT} AND event_name = {eventName:String}`;
  const inTime = `timestamp >= ${at('fromMs')} AND timestamp < ${at('toMs')}`;
  const ofCustomers = customerKeys === null ? '1' : 'customer_key IN {customerKeys:Array(String)}';
  if (customerKeys !== null) parameters['customerKeys'] = customerKeys;
  const from = `FROM ${eventsInForce(scope, `${inTime} AND ${ofCustomers}`, target)} AS e
    WHERE ${scope} AND ${inTime} AND ${ofCustomers}
      AND (empty({sources:Array(String)}) OR e.source IN {sources:Array(String)})
      AND ${['1', ...ofProperties].join(' AND ')} AND ${IS_FINISHED}`;
  return { from, parameters };
}

const countRow = z.object({ found: integerColumn });

/** How many events a filter finds. */
export async function countFiltered(
  clickHouse: ClickHouse,
  target: CorrectionTarget,
  filter: EventFilter,
): Promise<number> {
  const { from, parameters } = filtered(target, filter);
  const rows = await clickHouse.query(`SELECT count() AS found ${from}`, parameters, countRow);
  return assertPresent(rows[0], 'the row of a SELECT of one aggregate').found;
}

const COLUMNS = `tenant_id, environment_id, event_name, customer_key, timestamp, log_id, log_partition,
  log_offset, record_index, correction, effect, event_id, source, received_at, is_timestamp_given,
  appended_at, new_customer_key, new_customer_id, new_timestamp, new_properties`;

const queryId = (number: number): string => `mb:correction:${number}:${randomUUID()}`;

/** How events of a filter count instead: the last columns of their rows, and their values. */
type NewColumns = { readonly columns: string; readonly values: QueryParameters };

const WITHDRAWN: NewColumns = {
  columns: `e.customer_key, e.customer_id, e.timestamp,
    CAST(map(), 'Map(LowCardinality(String), String)')`,
  values: {},
};

function amendedColumns({ set, removed, customerKey }: NonNullable<FilterChange>): NewColumns {
  const customer =
    customerKey === null ? 'e.customer_key, e.customer_id' : '{newCustomer:String}, NULL';
  return {
    columns: `${customer}, e.timestamp,
      CAST(mapUpdate(mapFilter((k, v) -> NOT has({removed:Array(String)}, k),
        CAST(e.properties, 'Map(String, String)')),
        mapFromArrays({setKeys:Array(String)}, {setTexts:Array(String)})),
        'Map(LowCardinality(String), String)')`,
    values: {
      removed,
      setKeys: Object.keys(set),
      setTexts: Object.values(set),
      newCustomer: customerKey,
    },
  };
}

/** Writes how the events of a filter count; ClickHouse does it alone, however many they are. */
export async function writeFiltered(
  clickHouse: ClickHouse,
  target: CorrectionTarget,
  { filter, change }: { readonly filter: EventFilter; readonly change: FilterChange },
): Promise<void> {
  const { from, parameters } = filtered(target, filter);
  const { columns, values } = change === null ? WITHDRAWN : amendedColumns(change);
  await clickHouse.command(
    `INSERT INTO event_corrections_v1 (${COLUMNS})
     SELECT e.tenant_id, e.environment_id, e.event_name, e.customer_key, e.timestamp, e.log_id,
       e.log_partition, e.log_offset, e.record_index, {number:UInt64}, {effect:String}, e.event_id,
       e.source, e.received_at, e.is_timestamp_given, e.appended_at, ${columns}
     ${from}`,
    { ...parameters, ...values, effect: change === null ? 'withdrawn' : 'amended' },
    queryId(target.number),
  );
}

/** The events at these places, as they count; those that do not count are left out. */
export function readAt(
  clickHouse: ClickHouse,
  target: CorrectionTarget,
  places: readonly EventPosition[],
): Promise<readonly CountedEvent[]> {
  if (places.length === 0) return Promise.resolve([]);
  const isAt = `(log_id, log_partition, log_offset, record_index) IN
    (SELECT arrayJoin(arrayZip({logIds:Array(String)}, {partitions:Array(UInt32)},
      {offsets:Array(UInt64)}, {indexes:Array(UInt32)})))`;
  const raw = `e.log_offset IN {offsets:Array(UInt64)} AND ${isAt}`;
  return clickHouse.query(
    `SELECT e.event_id AS event_id, toString(e.event_name) AS event_name,
       e.customer_key AS customer_key, e.customer_id AS customer_id, toString(e.source) AS source,
       toString(toUnixTimestamp64Milli(e.timestamp)) AS timestamp_ms,
       toString(toUnixTimestamp64Milli(e.received_at)) AS received_ms,
       toString(toUnixTimestamp64Milli(e.appended_at)) AS appended_ms,
       e.is_timestamp_given AS is_timestamp_given,
       CAST(e.properties, 'Map(String, String)') AS properties, toString(e.log_id) AS log_id,
       e.log_partition AS log_partition, e.log_offset AS log_offset, e.record_index AS record_index
     FROM ${eventsInForce(ENVIRONMENT, raw, target)} AS e
     WHERE ${ENVIRONMENT} AND ${isAt} AND ${IS_FINISHED}`,
    {
      ...targetParameters(target),
      logIds: places.map(({ logId }) => logId),
      partitions: places.map(({ partition }) => partition),
      offsets: places.map(({ offset }) => offset),
      indexes: places.map(({ index }) => index),
    },
    eventRow,
  );
}

const time = (instant: InstantMs): string => new Date(instant).toISOString();

/** Writes how these events count. */
export async function writeEvents(
  clickHouse: ClickHouse,
  { environment, number }: Pick<CorrectionTarget, 'environment' | 'number'>,
  events: readonly CorrectedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ effect, before, after }) =>
    JSON.stringify({
      tenant_id: environment.tenantId,
      environment_id: environment.environmentId,
      event_name: before.eventName,
      customer_key: before.customerKey,
      timestamp: time(before.timestampMs),
      log_id: before.position.logId,
      log_partition: before.position.partition,
      log_offset: before.position.offset,
      record_index: before.position.index,
      correction: number,
      effect,
      event_id: before.eventId,
      source: before.source,
      received_at: time(before.receivedAtMs),
      is_timestamp_given: before.isTimestampGiven,
      appended_at: time(before.appendedAtMs),
      new_customer_key: after.customerKey,
      new_customer_id: after.customerId,
      new_timestamp: time(after.timestampMs),
      new_properties: after.properties,
    }),
  );
  await clickHouse.insertText({
    query: `INSERT INTO event_corrections_v1 (${COLUMNS}) FORMAT JSONEachRow`,
    body: rows.join('\n'),
    queryId: queryId(number),
  });
}

const OF_CORRECTION = `${ENVIRONMENT} AND correction = {number:UInt64}`;
const minuteOf = (column: string): string =>
  `toDateTime64(intDiv(toUnixTimestamp64Milli(${column}), ${MINUTE_MS}) * ${MINUTE_MS / 1000}, 0, 'UTC')`;

/** Notes in which minutes of which customers the written events change what counts. */
export async function writeMinutes(
  clickHouse: ClickHouse,
  { environment, number }: Pick<CorrectionTarget, 'environment' | 'number'>,
): Promise<void> {
  const cells = (customer: string, at: string, condition: string) =>
    `SELECT tenant_id, environment_id, event_name, ${customer} AS customer_key, ${minuteOf(at)} AS minute
     FROM event_corrections_v1 WHERE ${OF_CORRECTION} AND ${condition}`;
  await clickHouse.command(
    `INSERT INTO corrected_minutes_v1 (tenant_id, environment_id, event_name, customer_key, minute, correction)
     SELECT DISTINCT tenant_id, environment_id, event_name, customer_key, minute, {number:UInt64}
     FROM (${cells('customer_key', 'timestamp', `effect != 'added'`)}
       UNION ALL ${cells('new_customer_key', 'new_timestamp', `effect != 'withdrawn'`)})`,
    { ...environment, number },
    queryId(number),
  );
}

/** Where the written events of one name change what counts. */
export type TouchedStretch = Interval & {
  readonly eventName: string;
  readonly events: number;
  readonly customers: number;
  /** Null for more than `CUSTOMER_KEYS_MAX`. */
  readonly customerKeys: readonly string[] | null;
};

/** Of more customers, corrections are taken to touch each other whoever they are. */
const CUSTOMER_KEYS_MAX = 5_000;

const stretchRow = z.object({
  event_name: z.string(),
  start_ms: integerColumn,
  end_ms: integerColumn,
  customers: integerColumn,
  keys: z.array(z.string()),
});
const eventsRow = z.object({ event_name: z.string(), events: integerColumn });

/** What was written, by event name. */
export async function readTouched(
  clickHouse: ClickHouse,
  { environment, number }: Pick<CorrectionTarget, 'environment' | 'number'>,
): Promise<readonly TouchedStretch[]> {
  const parameters = { ...environment, number };
  const counts = await clickHouse.query(
    `SELECT toString(event_name) AS event_name, count() AS events FROM event_corrections_v1
     WHERE ${OF_CORRECTION} GROUP BY event_name`,
    parameters,
    eventsRow,
  );
  const stretches = await clickHouse.query(
    `SELECT toString(event_name) AS event_name, min(toInt64(minute)) * 1000 AS start_ms,
       max(toInt64(minute)) * 1000 + ${MINUTE_MS} AS end_ms, uniqExact(customer_key) AS customers,
       groupUniqArray(${CUSTOMER_KEYS_MAX + 1})(customer_key) AS keys
     FROM corrected_minutes_v1 WHERE ${OF_CORRECTION} GROUP BY event_name ORDER BY event_name`,
    parameters,
    stretchRow,
  );
  const eventsOf = new Map(counts.map((row) => [row.event_name, row.events]));
  return stretches.map((row) => ({
    eventName: row.event_name,
    startMs: row.start_ms,
    endMs: row.end_ms,
    // Absent means none: a minute without an event of the name.
    events: eventsOf.get(row.event_name) ?? 0,
    customers: row.customers,
    customerKeys: row.keys.length > CUSTOMER_KEYS_MAX ? null : row.keys,
  }));
}
