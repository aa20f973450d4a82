import { isSplit } from '../../domain/usage/aggregation-spec.js';
import { AGGREGATIONS } from '../../../contract/aggregation.js';
import { assertPresent } from '../../../runtime/failure.js';
import {
  countColumns,
  MINUTE_INSTANT,
  minuteValuesOf,
  slotColumns,
  slotValues,
  stretchColumns,
  type AnswerSql,
} from './answer-columns.js';
import { readTemplate } from './sql-template.js';
import { answeredQueries, customersOf, tellsApart } from './branch-customers.js';
import type { StatementBuilder } from './statement-builder.js';
import { branchesBy, firstOf, type PlacedQuery, type UsageBranch } from './usage-branch.js';
import { CELLS_MAX, type CellQuery } from './cell-query.js';
import type { Run } from './window-parts.js';

const READ_MINUTES = readTemplate('read-usage-minutes');
const READ_STRETCH = readTemplate('read-usage-stretch');

/** Queries of one branch read the same minutes in the same slots, with the same columns. */
export function minuteBranchesOf(
  builder: StatementBuilder,
  queries: readonly PlacedQuery[],
): readonly (readonly PlacedQuery[])[] {
  const read = queries.filter(({ parts }) => parts.minutes !== null);
  return branchesBy(read, ({ query: { split, sources, subject, slots }, parts, corrected }) => {
    const columns = [split.source, split.group, minuteValuesOf(subject.aggregation.type)];
    // Corrections are of one event name; without any, meters of all names share a branch.
    const corrections = corrected.length === 0 ? [] : [subject.eventName, corrected];
    return [parts.minutes, builder.slotsId(slots), sources, columns, corrections];
  });
}

/** @throws AssertionFailed for an ad-hoc rule, which has no minutes. */
function minutesOf({ query: { subject } }: PlacedQuery) {
  return assertPresent(subject.minutes, 'the minutes of a meter');
}

/**
 * Rows of the meters, by generation. No two meters have a generation in common (one sequence of
 * `meter_versions` numbers them all): the generations decide, and the meters only tell the index
 * where to look, so that their column is not read.
 */
function metersPiece({ bindings }: StatementBuilder, placed: readonly PlacedQuery[]): string {
  const minutes = placed.map(minutesOf);
  const ids = new Set(minutes.map(({ meterId }) => meterId));
  const generations = new Set(minutes.flatMap((meter) => meter.generations));
  const ofMeters = bindings.isOneOf('u.meter_id', [...ids], 'String');
  return `indexHint(${ofMeters}) AND ${bindings.isOneOf('u.generation', [...generations], 'UInt64')}`;
}

/** Rows of whole minutes: the meters' generations, the stretch, and the slot of each. */
export function minutePieces(
  builder: StatementBuilder,
  placed: readonly PlacedQuery[],
): Readonly<Record<string, string>> {
  const { bindings } = builder;
  const { parts, query } = firstOf(placed);
  const minutes = assertPresent(parts.minutes, 'the minutes of a branch');
  const from = `toDateTime64(${bindings.integer(minutes.startMs / 1000)}, 0, 'UTC')`;
  const to = `toDateTime64(${bindings.integer(minutes.endMs / 1000)}, 0, 'UTC')`;
  const except = bindings.list(
    minutes.except.map((minute) => minute / 1000),
    'Int64',
  );
  const isOut = minutes.except.length === 0 ? '' : ` AND toInt64(u.minute) NOT IN (${except})`;
  const cell = { not: true, cell: '(u.customer_key, u.minute)' };
  const isUncorrected = builder.isCorrected(firstOf(placed), cell);
  return {
    ...builder.conditions('u', placed),
    meters: metersPiece(builder, placed),
    minutes:
      `u.minute >= ${from} AND u.minute < ${to}${isOut}` +
      (isUncorrected === '' ? '' : ` AND ${isUncorrected}`),
    slot: builder.slot(query, MINUTE_INSTANT),
  };
}

/** The run of which a row has a place for every slot; null where rows name their slots. */
function placesOf(builder: StatementBuilder, query: CellQuery, rows: number): Run | null {
  const { subject, split } = query;
  const isCount = AGGREGATIONS[subject.aggregation.type].counts === 'event';
  // A split may give many rows, with few events each.
  if (!isCount || isSplit(split)) return null;
  const run = builder.runOf(query);
  return run !== null && run[2] * rows <= CELLS_MAX ? run : null;
}

/** How many rows a branch has when it is not split: the most of them that are asked for. */
function rowsOf(placed: readonly PlacedQuery[]): number {
  const { sets } = customersOf(placed);
  return sets.length === 1
    ? placed.length
    : placed.reduce((sum, { query }) => sum + query.customers.keys.length, 0);
}

/** Whether all queries of the branch are about one meter, whose generations then add up. */
function isOfOneMeter(placed: readonly PlacedQuery[]): boolean {
  return new Set(placed.map((one) => JSON.stringify(minutesOf(one)))).size === 1;
}

function answeredOf(placed: readonly PlacedQuery[]): Pick<UsageBranch, 'queryIndexes' | 'told'> {
  const isOne = isOfOneMeter(placed);
  const named = placed.flatMap((one) =>
    isOne
      ? [['', one] as const]
      : minutesOf(one).generations.map((generation) => [String(generation), one] as const),
  );
  return answeredQueries(named, customersOf(placed));
}

/** The columns by which a query splits its minutes. */
export function splitColumns({ split }: CellQuery): AnswerSql {
  return {
    ...(split.source ? { source: 'toString(u.source)' } : {}),
    ...(split.group ? { group: 'u.group_key' } : {}),
  };
}

/** The template of a branch, and the columns of values. */
function valuesOf(
  builder: StatementBuilder,
  { slots, subject }: CellQuery,
  run: Run | null,
): { readonly template: string; readonly columns: AnswerSql } {
  const { type } = subject.aggregation;
  if (run !== null) {
    const columns = countColumns(run, builder.placeIn(run, MINUTE_INSTANT));
    return { template: READ_STRETCH, columns };
  }
  return slots === null
    ? { template: READ_STRETCH, columns: stretchColumns(type) }
    : { template: READ_MINUTES, columns: slotColumns(type) };
}

export function addMinuteBranch(builder: StatementBuilder, placed: readonly PlacedQuery[]): void {
  const { query } = firstOf(placed);
  const { split, subject } = query;
  // The generations of one meter add up, so nobody needs to tell them apart.
  const isOne = isOfOneMeter(placed);
  const isTold = tellsApart(customersOf(placed));
  const keys = [
    ...(isTold ? ['u.customer_key'] : []),
    ...(isOne ? [] : ['u.generation']),
    ...(split.source ? ['u.source'] : []),
    ...(split.group ? ['u.group_key'] : []),
  ];
  const run = placesOf(builder, query, rowsOf(placed));
  const { template, columns } = valuesOf(builder, query, run);
  builder.add(
    { ...answeredOf(placed), rule: null, run },
    {
      template,
      columns: {
        ...(isOne ? {} : { query: 'toString(u.generation)' }),
        ...(isTold ? { customer: 'u.customer_key' } : {}),
        ...splitColumns(query),
        ...columns,
        ...builder.customerKeys('u'),
      },
      pieces: {
        ...minutePieces(builder, placed),
        keys: keys.map((key) => `${key}, `).join(''),
        groupBy: keys.length === 0 ? '' : `GROUP BY ${keys.join(', ')}`,
        values: slotValues(subject.aggregation.type),
      },
    },
  );
}
