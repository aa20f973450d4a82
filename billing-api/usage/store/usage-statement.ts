import type { AnswerName } from './answer-columns.js';
import { addEventBranch, eventBranchesOf } from './event-branch.js';
import { addMinuteBranch, minuteBranchesOf } from './minute-branch.js';
import type { Bindings } from './sql-template.js';
import { StatementBuilder, type PlacedQuery, type UsageBranch } from './statement-builder.js';
import { addUniquesBranch, uniquesBranchesOf } from './uniques-branch.js';
import { nearerEnds } from '../../domain/usage/watermark.js';
import type { CellQuery, CellQueryBatch, UsageBound } from './cell-query.js';
import { clampedWindow, partsOf } from './window-parts.js';

export type UsageStatement = {
  readonly text: string;
  readonly bindings: Bindings;
  readonly branches: readonly UsageBranch[];
  /** The columns of its rows. */
  readonly columns: readonly AnswerName[];
  /** Whether it reads nothing but whole minutes of named customers. */
  readonly isOfMinutes: boolean;
};

function placed(query: CellQuery, index: number, bound: UsageBound | null): PlacedQuery {
  const { subject, narrowedBy, split, slots } = query;
  const window = clampedWindow(query.window);
  const isOfEvents =
    subject.minutes === null || narrowedBy.length > 0 || split.properties.length > 0;
  const events = window.startMs < window.endMs ? [window] : [];
  const parts = isOfEvents
    ? { minutes: null, events }
    : partsOf(window, slots ?? [], bound?.eventsFrom.get(query));
  return { query, index, parts, ends: nearerEnds(subject.ends, bound?.ends ?? null) };
}

/** Until its backfill is complete a meter shows nothing, not even of the events themselves. */
function isShown({ subject }: CellQuery): boolean {
  return subject.minutes === null || subject.minutes.generations.length > 0;
}

/** Of the queries from `from` to before `to`, those that have something to read, and where. */
export function placedOf(
  { queries, bound }: Pick<CellQueryBatch, 'queries' | 'bound'>,
  { from, to } = { from: 0, to: queries.length },
): readonly PlacedQuery[] {
  return queries
    .slice(from, to)
    .map((query, index) => placed(query, from + index, bound))
    .filter(({ query }) => isShown(query));
}

/**
 * One statement for the queries of a batch from one index on; null when there is nothing to read.
 * Queries that share stretch, slots and columns share a branch, so that the lines of an invoice
 * cost one or two. Every branch is a plain WHERE on the sorting key: joined to a list of queries it
 * took three times as long for a customer's month (measured).
 */
export function usageStatementOf(
  batch: CellQueryBatch,
  part: { readonly from: number; readonly to: number },
): UsageStatement | null {
  const builder = new StatementBuilder(batch);
  const queries = placedOf(batch, part);
  for (const branch of minuteBranchesOf(builder, queries)) addMinuteBranch(builder, branch);
  for (const branch of eventBranchesOf(builder, queries)) addEventBranch(builder, branch);
  for (const one of uniquesBranchesOf(queries)) addUniquesBranch(builder, one);
  const { bindings, branches } = builder;
  if (branches.length === 0) return null;
  const isOfMinutes =
    batch.customers.kind === 'only' && queries.every(({ parts }) => parts.events.length === 0);
  return { ...builder.build(), bindings, branches, isOfMinutes };
}
