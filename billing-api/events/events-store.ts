import { z } from 'zod';
import type { ClickHouseQueries, QueryParameters } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs, Interval } from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import { EVENT_TIMESTAMP_END_MS } from '../../contract/usage-event.js';
import { integerColumn } from '../../sql/columns.js';
import { findEventPositions, type CountedPosition, type EventPosition } from './event-positions.js';
import { correctedEvents } from '../../clickhouse/corrected-events.js';
import type { EventCorrection } from '../domain/usage/event-correction.js';
import type { PartitionEnd } from '../domain/usage/watermark.js';
import { queryFile, withLongTexts } from '../../clickhouse/query-file.js';
import { textKeyed } from '../records/columns.js';

/** One event as it was accepted first; duplicates of its id are elsewhere. */
export type StoredEvent = {
  readonly eventId: string;
  readonly eventName: string;
  /** `e:<external customer id>` or `i:<customer id>`; see customerKeyOfEvent. */
  readonly customerKey: string;
  readonly customerId: string | null;
  readonly source: string;
  readonly timestampMs: InstantMs;
  readonly receivedAtMs: InstantMs;
  readonly properties: Readonly<Record<string, string>>;
  readonly position: EventPosition;
  /** The number of the correction by which it counts as it does; 0 for none. */
  readonly correction: number;
};

/** Which events of an environment are wanted; conditions are joined by AND. */
export type EventQuery = {
  readonly environment: Environment;
  /** Of the events' own timestamps. */
  readonly window: Interval;
  /** Null for everybody. */
  readonly customerKeys: readonly string[] | null;
  /** The times in which events of some of these keys are wanted; absent for all. */
  readonly limited?: readonly {
    readonly keys: readonly string[];
    readonly spans: readonly Interval[];
  }[];
  readonly eventName: string | null;
  readonly eventId: string | null;
  readonly source: string | null;
  readonly filters: readonly MeterFilter[];
  /** The only partitions whose events are wanted, and how far; null for all. */
  readonly ends: readonly PartitionEnd[] | null;
  /** Those under which events are listed as they count; none lists them as they were sent. */
  readonly corrections: readonly EventCorrection[];
};

/** Ties are ordered by timestamp and then by id, in the same direction. */
export type EventOrder = {
  readonly sort: 'timestamp' | 'event_name';
  readonly direction: 'asc' | 'desc';
};

/** What the order goes by: no two events of an environment share one. */
export type PlaceInOrder = Pick<StoredEvent, 'eventName' | 'timestampMs' | 'eventId'>;

export type EventCut = {
  readonly order: EventOrder;
  /** Only events that come behind this place in the order. */
  readonly behind: PlaceInOrder | null;
  /** Only events that come in front of this place in the order. */
  readonly inFrontOf: PlaceInOrder | null;
  readonly limit: number;
  readonly offset: number;
};

const COLUMNS = `SELECT e.event_id AS event_id, toString(e.event_name) AS event_name, e.customer_key AS customer_key,
  e.customer_id AS customer_id, toString(e.source) AS source,
  toString(toUnixTimestamp64Milli(e.timestamp)) AS timestamp_ms,
  toString(toUnixTimestamp64Milli(e.received_at)) AS received_ms,
  CAST(e.properties, 'Map(String, String)') AS properties,
  toString(e.log_id) AS log_id, e.log_partition AS log_partition, e.log_offset AS log_offset,
  e.record_index AS record_index`;
const FILTER_EVENTS = queryFile('filter-events');
const FIND_EVENTS_AT = queryFile('find-events-at');

const ORDER_COLUMNS = {
  timestamp: ['e.timestamp', 'e.event_id'],
  event_name: ['e.event_name', 'e.timestamp', 'e.event_id'],
} as const;

/** The columns that a list of events and a correction both read of an event. */
export const eventColumns = {
  event_id: z.string(),
  event_name: z.string(),
  customer_key: z.string(),
  customer_id: z.string().nullable(),
  source: z.string(),
  timestamp_ms: integerColumn,
  received_ms: integerColumn,
  properties: textKeyed(z.string()),
  log_id: z.string(),
  log_partition: z.number().int(),
  log_offset: integerColumn,
  record_index: z.number().int(),
};
const columnsRow = z.object(eventColumns);

/** An event from its columns. */
export function eventFromRow(row: z.output<typeof columnsRow>): Omit<StoredEvent, 'correction'> {
  return {
    eventId: row.event_id,
    eventName: row.event_name,
    customerKey: row.customer_key,
    customerId: row.customer_id,
    source: row.source,
    timestampMs: row.timestamp_ms,
    receivedAtMs: row.received_ms,
    properties: row.properties,
    position: {
      logId: row.log_id,
      partition: row.log_partition,
      offset: row.log_offset,
      index: row.record_index,
    },
  };
}

export const storedEventRow = columnsRow
  // Absent where events are read as they were sent.
  .extend({ correction: integerColumn.default('0') })
  .transform((row): StoredEvent => ({ ...eventFromRow(row), correction: row.correction }));

const oneOrNone = (text: string | null): readonly string[] => (text === null ? [] : [text]);

function parametersOf(question: EventQuery, offsets: readonly number[]): QueryParameters {
  return {
    ...question.environment,
    fromMs: question.window.startMs,
    toMs: question.window.endMs,
    eventNames: oneOrNone(question.eventName),
    eventIds: oneOrNone(question.eventId),
    sources: oneOrNone(question.source),
    isOfAll: question.customerKeys === null,
    customerKeys: question.customerKeys ?? [],
    hasFilters: question.filters.length > 0,
    hasEnds: question.ends !== null,
    endNames: (question.ends ?? []).map(({ log, partition }) => `${partition}:${log}`),
    endOffsets: (question.ends ?? []).map(({ countedBelow }) => countedBelow),
    offsets,
    corrections: question.corrections.map(({ number }) => number),
  };
}

/** The events of a question, as they were sent or as they count. */
function eventsOf({ corrections, eventName }: EventQuery): string {
  const ofEnvironment = 'tenant_id = {tenantId:String} AND environment_id = {environmentId:String}';
  const scope = `${ofEnvironment}${eventName === null ? '' : ' AND event_name IN {eventNames:Array(String)}'}`;
  const of = { scope, corrections: '{corrections:Array(UInt64)}' };
  const raw = `timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND ({isOfAll:Bool} OR customer_key IN {customerKeys:Array(String)})`;
  return correctedEvents(corrections.length === 0 ? null : of, raw);
}

type Spans = { readonly text: string; readonly parameters: QueryParameters };

/** The condition that events of limited keys lie in their times. */
function spansOf({ limited = [] }: EventQuery): Spans {
  if (limited.length === 0) return { text: '', parameters: {} };
  const parameters: Record<string, QueryParameters[string]> = {
    limitedKeys: limited.flatMap(({ keys }) => keys),
  };
  const within = limited.map(({ keys, spans }, place) => {
    parameters[`limited${place}`] = keys;
    const times = spans.map(({ startMs, endMs }, at) => {
      const [from, to] = [`from${place}s${at}`, `to${place}s${at}`];
      parameters[from] = startMs;
      parameters[to] = Math.min(endMs, EVENT_TIMESTAMP_END_MS);
      return `toUnixTimestamp64Milli(e.timestamp) >= {${from}:Int64} AND toUnixTimestamp64Milli(e.timestamp) < {${to}:Int64}`;
    });
    return `(e.customer_key IN {limited${place}:Array(String)} AND (${times.join(' OR ')}))`;
  });
  const isFree = 'e.customer_key NOT IN {limitedKeys:Array(String)}';
  return { text: `AND (${isFree} OR ${within.join(' OR ')})`, parameters };
}

/** Values of the order's columns at a place, as parameters named with a prefix. */
function placeTuple(sort: EventOrder['sort'], prefix: string): string {
  const name = sort === 'event_name' ? [`{${prefix}Name:String}`] : [];
  const timestamp = `fromUnixTimestamp64Milli({${prefix}Ms:Int64}, 'UTC')`;
  return `(${[...name, timestamp, `{${prefix}Id:String}`].join(', ')})`;
}

function placeParameters(place: PlaceInOrder | null, prefix: string): QueryParameters {
  if (place === null) return {};
  return {
    [`${prefix}Name`]: place.eventName,
    [`${prefix}Ms`]: place.timestampMs,
    [`${prefix}Id`]: place.eventId,
  };
}

/** Everything behind the conditions: made of constants of this file only. */
function tailOf({ order, behind, inFrontOf }: EventCut): string {
  const columns = ORDER_COLUMNS[order.sort];
  const isUp = order.direction === 'asc';
  const place = `(${columns.join(', ')})`;
  const conditions = [
    ...(behind === null
      ? []
      : [`AND ${place} ${isUp ? '>' : '<'} ${placeTuple(order.sort, 'behind')}`]),
    ...(inFrontOf === null
      ? []
      : [`AND ${place} ${isUp ? '<' : '>'} ${placeTuple(order.sort, 'front')}`]),
  ];
  const direction = isUp ? 'ASC' : 'DESC';
  const keys = columns.map((column) => `${column} ${direction}`).join(', ');
  return `${conditions.join('\n')}\nORDER BY ${keys}\nLIMIT {limit:UInt64} OFFSET {offset:UInt64}`;
}

/** Events at these places, in no order. */
async function findAt(
  clickHouse: ClickHouseQueries,
  environment: Environment,
  positions: readonly CountedPosition[],
): Promise<readonly StoredEvent[]> {
  if (positions.length === 0) return [];
  const times = positions.map(({ appendedAtMs }) => appendedAtMs);
  const wanted = positions.map((position) => ({
    log_id: position.logId,
    log_partition: position.partition,
    log_offset: position.offset,
    record_index: position.index,
  }));
  const texts = { positions: JSON.stringify(wanted) };
  const { statement, parameters } = withLongTexts(`${COLUMNS}\n${FIND_EVENTS_AT}`, texts);
  const bounds = {
    ...environment,
    offsets: [...new Set(positions.map(({ offset }) => offset))],
    fromMs: Math.min(...times),
    toMs: Math.max(...times),
  };
  return clickHouse.query(statement, { ...bounds, ...parameters }, storedEventRow);
}

/** The stored events. Every method throws a DependencyError when ClickHouse fails. */
export function createEventStore(clickHouse: ClickHouseQueries) {
  const findPositions = (environment: Environment, ids: readonly string[]) =>
    findEventPositions(clickHouse, environment, ids);

  /** Offsets that narrow the question down; null when nothing can match it. */
  const offsetsOf = async (question: EventQuery): Promise<readonly number[] | null> => {
    if (question.customerKeys?.length === 0) return null;
    if (question.eventId === null) return [];
    const positions = await findPositions(question.environment, [question.eventId]);
    return positions.size === 0 ? null : [...positions.values()].map(({ offset }) => offset);
  };

  const statementOf = (question: EventQuery, select: string, tail: string) => {
    const filter = FILTER_EVENTS.replace('$events$', () => eventsOf(question));
    return withLongTexts(`${select}\n${filter}\n${tail}`, {
      filters: JSON.stringify(question.filters),
    });
  };

  return {
    /** Events in order. */
    list: async (question: EventQuery, cut: EventCut): Promise<readonly StoredEvent[]> => {
      const offsets = await offsetsOf(question);
      if (offsets === null) return [];
      const spans = spansOf(question);
      const tail = `${spans.text}\n${tailOf(cut)}`;
      const isCorrected = question.corrections.length > 0;
      const columns = isCorrected ? `${COLUMNS}, toString(e.correction) AS correction` : COLUMNS;
      const { statement, parameters } = statementOf(question, columns, tail);
      const all = {
        ...parametersOf(question, offsets),
        ...parameters,
        ...spans.parameters,
        ...placeParameters(cut.behind, 'behind'),
        ...placeParameters(cut.inFrontOf, 'front'),
        limit: cut.limit,
        offset: cut.offset,
      };
      return clickHouse.query(statement, all, storedEventRow);
    },
    /** How many events the question is about, wherever a page is cut. */
    count: async (question: EventQuery): Promise<number> => {
      const offsets = await offsetsOf(question);
      if (offsets === null) return 0;
      const { statement, parameters } = statementOf(question, 'SELECT count() AS total', '');
      const all = { ...parametersOf(question, offsets), ...parameters };
      const rows = await clickHouse.query(statement, all, z.object({ total: integerColumn }));
      return rows[0]?.total ?? 0;
    },
    /** The events with these ids, at most a thousand; unknown ids are left out. */
    find: async (
      environment: Environment,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, StoredEvent>> => {
      const positions = await findPositions(environment, ids);
      const events = await findAt(clickHouse, environment, [...positions.values()]);
      return new Map(events.map((event) => [event.eventId, event]));
    },
  };
}

export type EventStore = ReturnType<typeof createEventStore>;
