import type { AnswerName } from './answer-columns.js';
import { addEventBranch, eventBranchesOf } from './event-branch.js';
import { addMinuteBranch, minuteBranchesOf } from './minute-branch.js';
import type { Bindings } from './sql-template.js';
import { StatementBuilder } from './statement-builder.js';
import type { StatementPart } from './statement-parts.js';
import { addUniquesBranch, uniquesBranchesOf } from './uniques-branch.js';
import type { PlacedQuery, UsageBranch } from './usage-branch.js';
import { AGGREGATIONS } from '../../../contract/aggregation.js';
import type { InstantMs } from '../../../contract/instant.js';
import { isSplit } from '../../domain/usage/aggregation-spec.js';
import { correctionsIn } from '../../domain/usage/event-correction.js';
import { nearerEnds } from '../../domain/usage/watermark.js';
import type { CellQuery, CellQueryBatch, UsageBound } from './cell-query.js';
import { clampedWindow, partsOf, runsOf } from './window-parts.js';

/** Rows of events name their slot, so there may be a row, with its customers, for each. */
const TELLING_SLOTS_MAX = 1_000;

export type UsageStatement = {
  readonly text: string;
  readonly bindings: Bindings;
  readonly branches: readonly UsageBranch[];
  /** The columns of its rows. */
  readonly columns: readonly AnswerName[];
  /** Whether it reads nothing but whole minutes of named customers. */
  readonly isOfMinutes: boolean;
};

/** Where minutes of a query may be cut: at its slots, and where customers begin or end to count. */
function cutsOf({ slots, customers }: CellQuery): readonly InstantMs[] {
  const ofSlots = slots === null ? [] : slots;
  if (customers.kind !== 'only' || customers.limited === undefined) return ofSlots;
  const spans = customers.limited.flatMap((one) => one.spans);
  return [...ofSlots, ...spans.flatMap(({ startMs, endMs }) => [startMs, endMs])];
}

function placed(query: CellQuery, index: number, bound: UsageBound | null): PlacedQuery {
  const { subject, narrowedBy, split } = query;
  const window = clampedWindow(query.window);
  const isOfEvents =
    subject.minutes === null || narrowedBy.length > 0 || split.properties.length > 0;
  const events = window.startMs < window.endMs ? [window] : [];
  const parts = isOfEvents
    ? { minutes: null, events }
    : partsOf(window, cutsOf(query), bound?.eventsFrom.get(query));
  const { minutes } = parts;
  const corrected = minutes === null ? [] : correctionsIn(subject.corrections, minutes);
  return { query, index, parts, ends: nearerEnds(subject.ends, bound?.ends ?? null), corrected };
}

/**
 * Until its backfill is complete a meter shows nothing, not even of the events themselves; and
 * nobody has no usage.
 */
function isShown({ subject, customers }: CellQuery): boolean {
  const isNobody = customers.kind === 'only' && customers.keys.length === 0;
  return !isNobody && (subject.minutes === null || subject.minutes.generations.length > 0);
}

/** Of the queries from `from` to before `to`, those that have something to read, and where. */
export function placedOf(
  { queries, bound }: Pick<CellQueryBatch, 'queries' | 'bound'>,
  { from, to }: StatementPart = { from: 0, to: queries.length },
): readonly PlacedQuery[] {
  return queries
    .slice(from, to)
    .map((query, index) => placed(query, from + index, bound))
    .filter(({ query }) => isShown(query));
}

/**
 * Whether rows can tell whose usage they hold at little cost: those of minutes that are read as one
 * slot or as a run of counts, and of the events at their edges. Rows of other queries are many.
 */
export function tellsCustomers(queries: readonly CellQuery[]): boolean {
  return queries.every(({ subject, slots, split, narrowedBy }) => {
    const { counts, values } = AGGREGATIONS[subject.aggregation.type];
    const isRun = slots !== null && slots.length <= TELLING_SLOTS_MAX && runsOf(slots).length === 1;
    const isShort = slots === null || (counts === 'event' && isRun);
    const isOfMinutes = subject.minutes !== null && narrowedBy.length === 0;
    return isShort && isOfMinutes && !isSplit(split) && !values.includes('uniques');
  });
}

/**
 * One statement for a part of the queries of a batch; null when there is nothing to read. Queries
 * that share stretch, slots and columns share a branch, so that the lines of an invoice cost one or
 * two, and those of a hundred invoices no more where these have the same periods. Every branch is
 * a plain WHERE on the sorting key: joined to a list of queries it took three times as long for a
 * customer's month (measured).
 */
export function usageStatementOf(
  batch: CellQueryBatch,
  part: StatementPart,
): UsageStatement | null {
  const builder = new StatementBuilder(batch);
  const queries = placedOf(batch, part);
  for (const branch of minuteBranchesOf(builder, queries)) addMinuteBranch(builder, branch);
  for (const branch of eventBranchesOf(builder, queries)) addEventBranch(builder, branch);
  for (const branch of uniquesBranchesOf(builder, queries)) addUniquesBranch(builder, branch);
  const { bindings, branches } = builder;
  if (branches.length === 0) return null;
  const isOfMinutes = queries.every(
    ({ query, parts, corrected }) =>
      query.customers.kind === 'only' && parts.events.length === 0 && corrected.length === 0,
  );
  return { ...builder.build(), bindings, branches, isOfMinutes };
}
