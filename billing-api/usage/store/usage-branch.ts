import type { ValueRule } from '../../../contract/event-value.js';
import { assertPresent } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { EventCorrection } from '../../domain/usage/event-correction.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import type { CellQuery } from './cell-query.js';
import type { Run, WindowParts } from './window-parts.js';

/** One SELECT of a UNION ALL: which queries its rows answer, and how they are read. */
export type UsageBranch = {
  /**
   * By the column `query` of a row: the queries that it answers, as indexes of the batch. A branch
   * with one query leaves the column empty. Where customers are told apart, by both columns
   * (`queriesOfRow`).
   */
  readonly queryIndexes: ReadonlyMap<string, readonly number[]>;
  /** What rows have in their columns `query` and `customer`; null where customers are the same. */
  readonly told: {
    readonly queries: ReadonlySet<string>;
    readonly customers: ReadonlySet<string>;
  } | null;
  /** Makes the values of events from their texts; null where rows have the values themselves. */
  readonly rule: ValueRule | null;
  /** Slots for all of which a row has a place, in this order, also for those without events. */
  readonly run: Run | null;
};

/** A query, its index in the batch, and where its parts are read from. */
export type PlacedQuery = {
  readonly query: CellQuery;
  readonly index: number;
  readonly parts: WindowParts;
  /** The only partitions whose events count, and how far; null for all. */
  readonly ends: readonly PartitionEnd[] | null;
  /**
   * Corrections that change what counts in the minutes that it reads: the minutes which they name
   * are read from the events.
   */
  readonly corrected: readonly EventCorrection[];
};

/** A query of a branch, for what all of its queries have in common. */
export function firstOf(branch: readonly PlacedQuery[]): PlacedQuery {
  return assertPresent(branch[0], 'a query of a branch');
}

/**
 * Named customers can share a branch; everybody but some cannot, nor can customers that count in a
 * part of the time, which may be another one for another query.
 */
function customersKind({ customers }: CellQuery): unknown {
  const isShared = customers.kind === 'only' && customers.limited === undefined;
  return isShared ? customers.kind : customers;
}

/**
 * Queries that one branch answers: those with the same key, in their order. Their customers may
 * differ where all of them are named.
 */
export function branchesBy(
  queries: readonly PlacedQuery[],
  keyOf: (placed: PlacedQuery) => readonly unknown[],
): readonly (readonly PlacedQuery[])[] {
  const branches = groupBy(queries, (placed) =>
    JSON.stringify([customersKind(placed.query), ...keyOf(placed)]),
  );
  return [...branches.values()];
}
