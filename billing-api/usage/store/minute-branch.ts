import { isSplit } from '../../domain/usage/aggregation-spec.js';
import { countColumns, MINUTE_INSTANT, sumColumns } from './answer-columns.js';
import { readTemplate } from './sql-template.js';
import {
  branchesBy,
  type Placed,
  type StatementBuilder,
  type UsageBranch,
} from './statement-builder.js';
import { CELLS_MAX, minuteSumsOf, type CellQuery } from './cell-query.js';
import type { Run } from './window-parts.js';

const READ_MINUTES = readTemplate('read-usage-minutes');
const READ_STRETCH = readTemplate('read-usage-stretch');

/** Queries about the same minutes, in the same slots, with the same columns and kinds of rows. */
export function minuteBranchesOf(
  builder: StatementBuilder,
  queries: readonly Placed[],
): readonly (readonly Placed[])[] {
  const read = queries.filter(({ parts }) => parts.minutes !== null);
  return branchesBy(read, ({ query: { split, sources, subject, slots }, parts }) => {
    const columns = [split.source, split.group, minuteSumsOf(subject.aggregation.type)];
    return JSON.stringify([parts.minutes, builder.slotsId(slots), sources, columns]);
  });
}

/**
 * Rows of the meters, by generation. No two meters have a generation in common (one sequence of
 * `meter_versions` numbers them all): two lists say as much as pairs do, in 0.6 of the time.
 */
function metersPiece({ bindings }: StatementBuilder, placed: readonly Placed[]): string {
  const minutes = placed.flatMap(({ query: { subject } }) => subject.minutes ?? []);
  const ids = new Set(minutes.map(({ meterId }) => meterId));
  const generations = new Set(minutes.flatMap((meter) => meter.generations));
  const ofMeters = bindings.isOneOf('u.meter_id', [...ids], 'String');
  return `${ofMeters} AND ${bindings.isOneOf('u.generation', [...generations], 'UInt64')}`;
}

/** Rows of whole minutes: the meters' generations, the stretch, and the slot of each. */
export function minutePieces(
  builder: StatementBuilder,
  placed: readonly Placed[],
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
    source: first.query.split.source ? 'toString(u.source)' : `''`,
    group: first.query.split.group ? 'u.group_key' : `''`,
  };
}

/** The run that a row has a place for every slot of; null where rows name their slots. */
function placesOf(builder: StatementBuilder, query: CellQuery, rows: number): Run | null {
  const { subject, split } = query;
  // Of rows that are told apart further there may be many, with few events each.
  if (subject.aggregation.type !== 'COUNT' || isSplit(split)) return null;
  const run = builder.runOf(query);
  return run !== null && run[2] * rows <= CELLS_MAX ? run : null;
}

function queriesByGeneration(placed: readonly Placed[]): UsageBranch['queriesOf'] {
  const queriesOf = new Map<string, number[]>();
  for (const { query, place } of placed) {
    for (const generation of query.subject.minutes?.generations ?? []) {
      const name = String(generation);
      queriesOf.set(name, [...(queriesOf.get(name) ?? []), place]);
    }
  }
  return queriesOf;
}

export function addMinuteBranch(builder: StatementBuilder, placed: readonly Placed[]): void {
  const [first] = placed;
  if (first === undefined) throw new TypeError('a branch without queries');
  const { split, slots, subject } = first.query;
  const run = placesOf(builder, first.query, placed.length);
  const columns =
    run === null
      ? sumColumns(subject.aggregation.type, slots)
      : countColumns(run, builder.placeIn(run, MINUTE_INSTANT));
  const template = slots === null || run !== null ? READ_STRETCH : READ_MINUTES;
  builder.add({ queriesOf: queriesByGeneration(placed), rule: null, run }, template, {
    ...minutePieces(builder, placed),
    ...columns,
    keys: `${split.source ? ', u.source' : ''}${split.group ? ', u.group_key' : ''}`,
  });
}
