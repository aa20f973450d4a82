import { correctedEvents } from '../../../clickhouse/corrected-events.js';
import { AGGREGATIONS } from '../../../contract/aggregation.js';
import { compileValueRule, type ValueRule } from '../../../contract/event-value.js';
import type { Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import { correctedStretches, correctionsIn } from '../../domain/usage/event-correction.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import { EVENT_INSTANT, type AnswerSql } from './answer-columns.js';
import { answeredQueries, customersOf, tellsApart } from './branch-customers.js';
import { readTemplate } from './sql-template.js';
import type { StatementBuilder } from './statement-builder.js';
import { branchesBy, firstOf, type PlacedQuery } from './usage-branch.js';

const READ_EVENTS = readTemplate('read-usage-events');

/** The server hashes the texts of a COUNT_UNIQUE, in a branch of their own. */
const HASHED_IN_THE_SERVER = (): string => '';

/** A stretch of time as a condition that the primary key answers. */
export function timestampRange(
  { bindings }: StatementBuilder,
  { startMs, endMs }: Interval,
): string {
  const [from, to] = [startMs, endMs].map(
    (instant) => `fromUnixTimestamp64Milli(${bindings.integer(instant)}, 'UTC')`,
  );
  return `e.timestamp >= ${from} AND e.timestamp < ${to}`;
}

/** NULL for a property that is missing; an empty list has a type of its own in the server. */
function valueTextsOf(keys: readonly string[]): string {
  const texts = keys.map(
    (key) => `if(mapContains(e.properties, ${key}), e.properties[${key}], NULL)`,
  );
  return `CAST([${texts.join(', ')}], 'Array(Nullable(String))')`;
}

export function conditionsOf(
  { bindings }: StatementBuilder,
  filters: readonly MeterFilter[],
): string {
  const conditions = filters.map(({ key, values }) => {
    const name = bindings.text(key);
    const list = bindings.list(values, 'String');
    return `mapContains(e.properties, ${name}) AND e.properties[${name}] IN (${list})`;
  });
  return conditions.length === 0 ? '1' : conditions.join(' AND ');
}

/** What lies below the end of its partition; nothing of a partition without an end. */
export function endsPiece(
  { bindings }: StatementBuilder,
  ends: readonly PartitionEnd[] | null,
): string {
  if (ends === null) return '1';
  const offsets = new Map<string, number[]>();
  for (const { log, partition, countedBelow } of ends) {
    // Absent means none: this is the first partition of its log.
    const ofLog = offsets.get(log) ?? [];
    offsets.set(log, ofLog);
    ofLog[partition] = countedBelow;
  }
  const conditions = [...offsets].map(([log, ofLog]) => {
    // Partitions are numbered from 0; the server answers 0 for a place behind the list.
    const list = bindings.list(
      // Absent means zero: nothing counts of a partition without an end.
      Array.from(ofLog, (offset) => offset ?? 0),
      'UInt64',
    );
    const end = `arrayElement(${list}, e.log_partition + 1)`;
    return `e.log_id = ${bindings.text(log)} AND e.log_offset < ${end}`;
  });
  // What a preview adds has not been sent, so that it lies in no log.
  return `(${[`e.log_id = ''`, ...conditions].join(' OR ')})`;
}

function instantIn({ bindings }: StatementBuilder, { startMs, endMs }: Interval): string {
  const [from, to] = [startMs, endMs].map((instant) => bindings.integer(instant));
  return `${EVENT_INSTANT} >= ${from} AND ${EVENT_INSTANT} < ${to}`;
}

const EVENT_CELL = `(e.customer_key, toDateTime64(intDiv(${EVENT_INSTANT}, 60000) * 60, 0, 'UTC'))`;

/** The minutes of the query that its corrections name; none where there are none. */
function correctedPieces(builder: StatementBuilder, placed: PlacedQuery): readonly string[] {
  const { minutes } = placed.parts;
  if (minutes === null || placed.corrected.length === 0) return [];
  const { bindings } = builder;
  const except = bindings.list([...minutes.except], 'Int64');
  const isOut =
    minutes.except.length === 0
      ? ''
      : ` AND intDiv(${EVENT_INSTANT}, 60000) * 60000 NOT IN (${except})`;
  const isCorrected = builder.isCorrected(placed, { not: false, cell: EVENT_CELL });
  return [`(${instantIn(builder, minutes)}${isOut} AND ${isCorrected})`];
}

/** Where the events that a query reads lie, exactly. */
function intervalPiece(builder: StatementBuilder, placed: PlacedQuery): string {
  const stretches = placed.parts.events.map((stretch) => instantIn(builder, stretch));
  return `(${[...stretches, ...correctedPieces(builder, placed)].join(' OR ')})`;
}

/** Stretches of time that hold all of them, for the primary key. */
function boundsPiece(builder: StatementBuilder, placed: PlacedQuery): string {
  const { events, minutes } = placed.parts;
  const corrected = minutes === null ? [] : correctedStretches(placed.corrected, minutes);
  const startMs = Math.min(...events.map((stretch) => stretch.startMs));
  const endMs = Math.max(...events.map((stretch) => stretch.endMs));
  const all = [...(events.length === 0 ? [] : [{ startMs, endMs }]), ...corrected];
  return `(${all.map((stretch) => timestampRange(builder, stretch)).join(' OR ')})`;
}

/** Whether a query reads any events. */
export function readsEvents({ parts, corrected }: PlacedQuery): boolean {
  return parts.events.length > 0 || corrected.length > 0;
}

/** The events as they count, with these conditions on what was sent. */
function eventsPiece(builder: StatementBuilder, placed: PlacedQuery, raw: string): string {
  const { eventName, corrections } = placed.query.subject;
  const touching = [
    ...new Set([
      ...placed.corrected,
      ...placed.parts.events.flatMap((stretch) => correctionsIn(corrections, stretch)),
    ]),
  ];
  return correctedEvents(builder.corrections(eventName, touching), raw);
}

/** Conditions on the events of a branch: name, stretches, and the subject's filters. */
export function eventPieces(
  builder: StatementBuilder,
  branch: readonly PlacedQuery[],
): Readonly<Record<string, string>> {
  const { bindings } = builder;
  const first = firstOf(branch);
  const { query, ends } = first;
  const { subject } = query;
  const bounds = boundsPiece(builder, first);
  const conditions = builder.conditions('e', branch);
  return {
    ...conditions,
    // Events of a customer that an amendment gives to another one are read by their new customer.
    events: eventsPiece(builder, first, `${bounds} AND ${conditions['customers']}`),
    eventsOfAll: eventsPiece(builder, first, bounds),
    eventName: `e.event_name = ${bindings.text(subject.eventName)}`,
    bounds,
    intervals: intervalPiece(builder, first),
    filters: conditionsOf(builder, subject.filters),
    ends: endsPiece(builder, ends),
    slot: builder.slot(query, EVENT_INSTANT),
  };
}

/** What the query splits events by. */
export function eventKeyColumns(
  { bindings }: StatementBuilder,
  { query: { subject, split } }: PlacedQuery,
): { readonly source: string; readonly group: string; readonly texts: string } {
  const texts = split.properties.map((key) => `e.properties[${bindings.text(key)}]`);
  const { groupBy } = subject.aggregation;
  return {
    source: split.source ? 'toString(e.source)' : `''`,
    group: split.group && groupBy !== null ? `e.properties[${bindings.text(groupBy)}]` : `''`,
    texts: `CAST([${texts.join(', ')}], 'Array(String)')`,
  };
}

/** The aliases of the columns that tell rows apart (answer-columns.ts, read-usage-events.sql). */
const KEYS = ['slot_ms', 'source_text', 'group_text', 'texts', 'value_texts'] as const;

/** The latest event, in the order of contract/minute-values.ts: timestamp, receipt, id. */
const GREATEST_EVENT = `max((${EVENT_INSTANT}, toUnixTimestamp64Milli(e.received_at), e.event_id))`;
const LATEST_EVENT = `[toString(tupleElement(${GREATEST_EVENT}, 1)),
    toString(tupleElement(${GREATEST_EVENT}, 2)), tupleElement(${GREATEST_EVENT}, 3)]`;

/** Queries of one branch read the same events of the same subject, and narrow them differently. */
export function eventBranchesOf(
  builder: StatementBuilder,
  queries: readonly PlacedQuery[],
): readonly (readonly PlacedQuery[])[] {
  return branchesBy(queries.filter(readsEvents), ({ query, parts, ends, corrected }) => {
    const { subject, split, sources, slots } = query;
    const { eventName, filters, aggregation, corrections } = subject;
    const events = [eventName, filters, aggregation, ends, sources, parts.events, corrections];
    const ofMinutes = corrected.length === 0 ? null : parts.minutes;
    return [events, ofMinutes, builder.slotsId(slots), split];
  });
}

/**
 * The queries that an event matches: the event counts once for each of them. One branch for each
 * of hundreds of narrowed prices would read the same events hundreds of times.
 */
function queryPiece(
  builder: StatementBuilder,
  narrowings: readonly (readonly MeterFilter[])[],
): string {
  const matches = narrowings.map((narrowedBy) => conditionsOf(builder, narrowedBy));
  const numbers = narrowings.map((_, index) => index).join(', ');
  return `toString(arrayJoin(arrayFilter((number, isFor) -> isFor,
    [${numbers}], [${matches.map((match) => `(${match})`).join(', ')}])))`;
}

/** What decides the values of events: their texts, and what their type needs beside. */
function tallyColumns({ bindings }: StatementBuilder, rule: ValueRule): AnswerSql {
  const keys = rule.properties.map((key) => bindings.text(key));
  const { counts, values } = AGGREGATIONS[rule.type];
  const isThere = keys.map((key) => `if(mapContains(e.properties, ${key}), '', NULL)`);
  return {
    // Texts that are counted are read by the branch of unique texts.
    valueTexts:
      counts === 'text'
        ? `CAST([${isThere.join(', ')}], 'Array(Nullable(String))')`
        : valueTextsOf(keys),
    timeSum: values.includes('valueTimeSum') ? `toString(sum(toInt128(${EVENT_INSTANT})))` : `'0'`,
    ...(values.includes('latest') ? { latestEvent: LATEST_EVENT } : {}),
  };
}

/** The ways in which the queries of a branch narrow its events, and which of them each takes. */
function narrowingsOf(branch: readonly PlacedQuery[]) {
  const texts = branch.map(({ query }) => JSON.stringify(query.narrowedBy));
  const numbers = new Map([...new Set(texts)].map((text, number) => [text, String(number)]));
  const narrowings = new Map(zip(texts, branch).map(([text, { query }]) => [text, query]));
  const isOne = numbers.size === 1;
  const named = zip(texts, branch).map(
    ([text, placed]) => [isOne ? '' : mustGet(numbers, text, 'a narrowing'), placed] as const,
  );
  return { named, narrowings: [...narrowings.values()].map(({ narrowedBy }) => narrowedBy) };
}

export function addEventBranch(builder: StatementBuilder, branch: readonly PlacedQuery[]): void {
  const first = firstOf(branch);
  const rule = compileValueRule(first.query.subject.aggregation, HASHED_IN_THE_SERVER);
  const pieces = eventPieces(builder, branch);
  const filters = assertPresent(pieces['filters'], 'the filters of a branch');
  const narrowed = conditionsOf(builder, first.query.narrowedBy);
  const { named, narrowings } = narrowingsOf(branch);
  const isOne = narrowings.length === 1;
  const customers = customersOf(branch);
  const isTold = tellsApart(customers);
  builder.add(
    { ...answeredQueries(named, customers), rule, run: null },
    {
      template: READ_EVENTS,
      columns: {
        ...(isOne ? {} : { query: queryPiece(builder, narrowings) }),
        ...(isTold ? { customer: 'e.customer_key' } : {}),
        ...eventKeyColumns(builder, first),
        ...tallyColumns(builder, rule),
        slots: `[${pieces['slot']} AS slot_ms]`,
        eventCount: '[count()]',
        ...builder.customerKeys('e'),
      },
      pieces: {
        ...pieces,
        keys: [...(isOne ? [] : ['query']), ...(isTold ? ['customer_text'] : []), ...KEYS].join(
          ', ',
        ),
        filters: isOne ? `${filters} AND ${narrowed}` : filters,
      },
    },
  );
}
