import type { Candidate, DeadLetter, DecodedRecord } from './candidate.js';
import { countAccepted, type AcceptedCount } from './count-accepted.js';
import type { MeterIndex } from './meter-index.js';
import { separateDuplicates, type Duplicate, type StoredId } from './separate-duplicates.js';
import { usageDeltas, type UsageOfBatch } from './usage-deltas.js';

/** What the records of a batch are, whatever meters there may be. */
export type FoldedRecords = {
  readonly unique: readonly Candidate[];
  readonly duplicates: readonly Duplicate[];
  readonly deadLetters: readonly DeadLetter[];
  readonly accepted: readonly AcceptedCount[];
};

/** Everything that a batch adds to the stores, in an order that depends on its records alone. */
export type FoldedBatch = FoldedRecords & UsageOfBatch;

/** The records that could not be decoded. */
function deadLettersOf(records: readonly DecodedRecord[]): readonly DeadLetter[] {
  return records.flatMap(({ deadLetter }) => (deadLetter === null ? [] : [deadLetter]));
}

/**
 * Separates what is new in decoded records from what is not. `seen` holds those ids of the batch
 * that were counted at offsets below the batch; nothing but the records and `seen` matters.
 */
export function foldRecords(
  records: readonly DecodedRecord[],
  seen: ReadonlyMap<string, StoredId>,
): FoldedRecords {
  const { unique, duplicates } = separateDuplicates(records, seen);
  return {
    unique,
    duplicates,
    deadLetters: deadLettersOf(records),
    accepted: countAccepted(records),
  };
}

/** Adds what new events count on the meters of a catalog. */
export function foldUsage(records: FoldedRecords, meters: MeterIndex): FoldedBatch {
  return { ...records, ...usageDeltas(records.unique, meters) };
}

/**
 * Folds decoded records into what they add to the stores: a function of the records, `seen` and the
 * catalog alone, so a replay of the same range yields the same bytes.
 */
export function foldBatch(
  records: readonly DecodedRecord[],
  seen: ReadonlyMap<string, StoredId>,
  meters: MeterIndex,
): FoldedBatch {
  return foldUsage(foldRecords(records, seen), meters);
}
