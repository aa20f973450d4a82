import { compileValueRule } from '../../../contract/event-value.js';
import type { Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { readTemplate } from './sql-template.js';
import { branchesBy, type Placed, type StatementBuilder } from './statement-builder.js';
import type { MeterEnd } from '../../catalog/meters/effective-meters.js';
import { minuteSumsOf, NOTHING } from './cell-query.js';

const READ_EVENTS = readTemplate('read-usage-events');

/** The texts are told apart by the server, which knows how they are hashed. */
const HASHED_IN_THE_SERVER = (): string => '';

const EVENT_MS = 'toUnixTimestamp64Milli(e.timestamp)';

function timestampOf(bound: string): string {
  return `fromUnixTimestamp64Milli(${bound}, 'UTC')`;
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

/** An archived meter counts what lies below its end in each partition, and nothing elsewhere. */
function endsPiece({ bindings }: StatementBuilder, ends: readonly MeterEnd[] | null): string {
  if (ends === null) return '1';
  const names = bindings.list(
    ends.map(({ log, partition }) => `${partition}:${log}`),
    'String',
  );
  const offsets = bindings.list(
    ends.map(({ countedBelow }) => countedBelow),
    'UInt64',
  );
  const name = `concat(toString(e.log_partition), ':', toString(e.log_id))`;
  return `e.log_offset < arrayElement(${offsets}, indexOf(${names}, ${name}))`;
}

function intervalPiece({ bindings }: StatementBuilder, intervals: readonly Interval[]): string {
  const stretches = intervals.map(
    ({ startMs, endMs }) =>
      `${EVENT_MS} >= ${bindings.integer(startMs)} AND ${EVENT_MS} < ${bindings.integer(endMs)}`,
  );
  return `(${stretches.join(' OR ')})`;
}

/** Events of a query: name, stretches, the subject's filters, and what tells rows apart. */
export function eventPieces(
  builder: StatementBuilder,
  { query, parts }: Placed,
): Readonly<Record<string, string>> {
  const { bindings } = builder;
  const { subject, split } = query;
  const starts = parts.events.map(({ startMs }) => startMs);
  const ends = parts.events.map(({ endMs }) => endMs);
  const from = timestampOf(bindings.integer(Math.min(...starts)));
  const to = timestampOf(bindings.integer(Math.max(...ends)));
  const texts = split.properties.map((key) => `e.properties[${bindings.text(key)}]`);
  const { groupBy } = subject.aggregation;
  return {
    ...builder.conditions('e', query),
    eventName: `e.event_name = ${bindings.text(subject.eventName)}`,
    bounds: `e.timestamp >= ${from} AND e.timestamp < ${to}`,
    intervals: intervalPiece(builder, parts.events),
    filters: conditionsOf(builder, subject.filters),
    ends: endsPiece(builder, subject.ends),
    slot: builder.slot(query, EVENT_MS),
    source: split.source ? 'toString(e.source)' : `''`,
    group: split.group && groupBy !== null ? `e.properties[${bindings.text(groupBy)}]` : `''`,
    texts: `CAST([${texts.join(', ')}], 'Array(String)')`,
  };
}

/** The greatest by timestamp, receipt and id, as contract/usage-cell.ts compares them. */
const LATEST_EVENT = `max((${EVENT_MS}, toUnixTimestamp64Milli(e.received_at), e.event_id))`;
const LATEST_OF_EVENTS = `[[toString(tupleElement(${LATEST_EVENT}, 1)),
    toString(tupleElement(${LATEST_EVENT}, 2)), tupleElement(${LATEST_EVENT}, 3), '']]`;

/** Queries about the same events of the same subject, which differ in how they are narrowed. */
export function eventBranchesOf(
  builder: StatementBuilder,
  queries: readonly Placed[],
): readonly (readonly Placed[])[] {
  const read = queries.filter(({ parts }) => parts.events.length > 0);
  return branchesBy(read, ({ query: { subject, split, sources, slots }, parts }) => {
    const { eventName, filters, aggregation, ends } = subject;
    const events = [eventName, filters, aggregation, ends, sources, parts.events];
    return JSON.stringify([events, builder.slotsId(slots), split]);
  });
}

/**
 * Which of the queries an event is for: itself once for each. One statement for each of hundreds
 * of narrowed prices would read the same events hundreds of times.
 */
function queryPiece(builder: StatementBuilder, branch: readonly Placed[]): string {
  const matches = branch.map(({ query }) => conditionsOf(builder, query.narrowedBy));
  const numbers = branch.map((_, index) => index).join(', ');
  return `toString(arrayJoin(arrayFilter((number, isFor) -> isFor,
    [${numbers}], [${matches.map((match) => `(${match})`).join(', ')}])))`;
}

export function addEventBranch(builder: StatementBuilder, branch: readonly Placed[]): void {
  const [first] = branch;
  if (first === undefined) throw new TypeError('a branch without queries');
  const rule = compileValueRule(first.query.subject.aggregation, HASHED_IN_THE_SERVER);
  const keys = rule.properties.map((key) => builder.bindings.text(key));
  const sums = minuteSumsOf(rule.type);
  const isThere = keys.map((key) => `if(mapContains(e.properties, ${key}), '', NULL)`);
  const pieces = eventPieces(builder, first);
  const narrowed = conditionsOf(builder, first.query.narrowedBy);
  const queriesOf = new Map(branch.map(({ place }, index) => [String(index), [place]]));
  builder.add({ queriesOf, rule, run: null }, READ_EVENTS, {
    ...pieces,
    filters:
      branch.length === 1 ? `${pieces['filters']} AND ${narrowed}` : (pieces['filters'] ?? ''),
    query: branch.length === 1 ? `'0'` : queryPiece(builder, branch),
    // The texts themselves are counted by the branch of unique texts.
    valueTexts:
      rule.type === 'COUNT_UNIQUE'
        ? `CAST([${isThere.join(', ')}], 'Array(Nullable(String))')`
        : valueTextsOf(keys),
    timeSum: sums.valueTimeSum ? `[toString(sum(toInt128(${EVENT_MS})))]` : NOTHING.valueTimeSum,
    latest: sums.latest ? LATEST_OF_EVENTS : NOTHING.latest,
  });
}
