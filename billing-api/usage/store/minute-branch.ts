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
import {
  branchesBy,
  type PlacedQuery,
  type StatementBuilder,
  type UsageBranch,
} from './statement-builder.js';
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
  return branchesBy(read, ({ query: { split, sources, subject, slots }, parts }) => {
    const columns = [split.source, split.group, minuteValuesOf(subject.aggregation.type)];
    return JSON.stringify([parts.minutes, builder.slotsId(slots), sources, columns]);
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
  const [first] = placed;
  const minutes = first?.parts.minutes ?? null;
  if (first === undefined || minutes === null) throw new TypeError('a branch without minutes');
  const from = `toDateTime64(${bindings.integer(minutes.startMs / 1000)}, 0, 'UTC')`;
  const to = `toDateTime64(${bindings.integer(minutes.endMs / 1000)}, 0, 'UTC')`;
  const except = bindings.list(
    minutes.except.map((minute) => minute / 1000),
    'Int64',
  );
  const isOut = minutes.except.length === 0 ? '' : ` AND toInt64(u.minute) NOT IN (${except})`;
  return {
    ...builder.conditions('u', first.query),
    meters: metersPiece(builder, placed),
    minutes: `u.minute >= ${from} AND u.minute < ${to}${isOut}`,
    slot: builder.slot(first.query, MINUTE_INSTANT),
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

function queriesByGeneration(placed: readonly PlacedQuery[]): UsageBranch['queryIndexes'] {
  const [only, ...others] = placed;
  if (only !== undefined && others.length === 0) return new Map([['', [only.index]]]);
  const queryIndexes = new Map<string, number[]>();
  for (const one of placed) {
    for (const name of minutesOf(one).generations.map(String)) {
      const known = queryIndexes.get(name);
      if (known === undefined) queryIndexes.set(name, [one.index]);
      else known.push(one.index);
    }
  }
  return queryIndexes;
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
  const [first] = placed;
  if (first === undefined) throw new TypeError('a branch without queries');
  const { split, subject } = first.query;
  // The generations of one query add up, so nobody needs to tell them apart.
  const isOne = placed.length === 1;
  const keys = [
    ...(isOne ? [] : ['u.generation']),
    ...(split.source ? ['u.source'] : []),
    ...(split.group ? ['u.group_key'] : []),
  ];
  const run = placesOf(builder, first.query, placed.length);
  const { template, columns } = valuesOf(builder, first.query, run);
  builder.add(
    { queryIndexes: queriesByGeneration(placed), rule: null, run },
    {
      template,
      columns: {
        ...(isOne ? {} : { query: 'toString(u.generation)' }),
        ...splitColumns(first.query),
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
