import type { Candidate, DeadLetter, DecodedRecord } from './candidate.js';
import { countAccepted, type AcceptedCount } from './count-accepted.js';
import type { MeterIndex } from './meter-index.js';
import { separateDuplicates, type Duplicate, type StoredId } from './separate-duplicates.js';
import { usageDeltas, type UsageDelta } from './usage-deltas.js';

/** Everything that a batch adds to the stores, in an order that depends on its records alone. */
export type FoldedBatch = {
  readonly unique: readonly Candidate[];
  readonly duplicates: readonly Duplicate[];
  readonly deadLetters: readonly DeadLetter[];
  /** Unique events that matched at least one meter. */
  readonly countedEvents: number;
  readonly deltas: readonly UsageDelta[];
  readonly accepted: readonly AcceptedCount[];
};

/** The records that could not be decoded. */
function deadLettersOf(records: readonly DecodedRecord[]): readonly DeadLetter[] {
  return records.flatMap(({ deadLetter }) => (deadLetter === null ? [] : [deadLetter]));
}

/**
 * Folds decoded records into what they add to the stores. `seen` holds those ids of the batch that
 * were counted at offsets below the batch; the result is a function of the records, `seen` and the
 * catalog alone, so a replay of the same range yields the same bytes.
 */
export function foldBatch(
  records: readonly DecodedRecord[],
  seen: ReadonlyMap<string, StoredId>,
  meters: MeterIndex,
): FoldedBatch {
  const { unique, duplicates } = separateDuplicates(records, seen);
  const { deltas, countedEvents } = usageDeltas(unique, meters);
  return {
    unique,
    duplicates,
    deadLetters: deadLettersOf(records),
    deltas,
    accepted: countAccepted(records),
    countedEvents,
  };
}
