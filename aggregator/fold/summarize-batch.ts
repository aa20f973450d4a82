import type { AggregationType } from '../../contract/aggregation.js';
import type { UndecodableReason } from '../../contract/usage-event.js';
import type { FoldedBatch } from './fold-batch.js';
import type { UsageDelta } from './usage-deltas.js';

/** What is still needed of a batch once it is encoded; its events need not stay in memory. */
export type BatchSummary = {
  /** Of the events that count or are unmatched: what the filter must know afterwards. */
  readonly idHashes: readonly string[];
  /** Events that matched at least one meter; the others of `idHashes` are unmatched. */
  readonly countedEvents: number;
  readonly duplicates: number;
  readonly conflicts: number;
  /** Number of values that could not be read, by type of their meter. */
  readonly unreadable: ReadonlyMap<AggregationType, number>;
  /** One for each dead letter. */
  readonly deadLetters: readonly UndecodableReason[];
};

/** Number of values of each type that could not be read. */
function unreadableValues(deltas: readonly UsageDelta[]): ReadonlyMap<AggregationType, number> {
  const counts = new Map<AggregationType, number>();
  for (const { meter, cell } of deltas) {
    if (cell.unreadableCount === 0) continue;
    const { type } = meter.aggregation;
    // Absent means zero: this is the first row of the type.
    counts.set(type, (counts.get(type) ?? 0) + cell.unreadableCount);
  }
  return counts;
}

/** Counts the events of a batch by what became of them. */
export function summarizeBatch(folded: FoldedBatch): BatchSummary {
  const { unique, duplicates, deadLetters, countedEvents, deltas } = folded;
  return {
    idHashes: unique.map(({ idHash }) => idHash),
    countedEvents,
    duplicates: duplicates.length,
    conflicts: duplicates.filter(({ isConflict }) => isConflict).length,
    unreadable: unreadableValues(deltas),
    deadLetters: deadLetters.map(({ reason }) => reason),
  };
}
