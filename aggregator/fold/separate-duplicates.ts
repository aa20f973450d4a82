import type { InstantMs } from '../../contract/instant.js';
import type { Candidate, DecodedRecord } from './candidate.js';

/** What is stored of an id that has been counted: enough to tell a duplicate from a conflict. */
export type StoredId = {
  readonly payloadHash: string;
  readonly timestampMs: InstantMs;
  readonly isTimestampGiven: boolean;
};

export type Duplicate = { readonly candidate: Candidate; readonly isConflict: boolean };

function isConflict(candidate: Candidate, first: StoredId): boolean {
  if (candidate.payloadHash !== first.payloadHash) return true;
  const { timestampMs, isTimestampGiven } = candidate.event;
  return isTimestampGiven && first.isTimestampGiven && timestampMs !== first.timestampMs;
}

function storedIdOf(candidate: Candidate): StoredId {
  const { timestampMs, isTimestampGiven } = candidate.event;
  return { payloadHash: candidate.payloadHash, timestampMs, isTimestampGiven };
}

/**
 * Separates first occurrences from duplicates: of ids counted earlier, and of ids earlier in this
 * batch.
 */
export function separateDuplicates(
  records: readonly DecodedRecord[],
  seen: ReadonlyMap<string, StoredId>,
): { readonly unique: readonly Candidate[]; readonly duplicates: readonly Duplicate[] } {
  const firsts = new Map<string, Candidate>();
  const unique: Candidate[] = [];
  const duplicates: Duplicate[] = [];
  for (const candidate of records.flatMap((record) => record.candidates)) {
    const inBatch = firsts.get(candidate.idHash);
    const first =
      seen.get(candidate.idHash) ?? (inBatch === undefined ? undefined : storedIdOf(inBatch));
    if (first === undefined) {
      firsts.set(candidate.idHash, candidate);
      unique.push(candidate);
    } else {
      duplicates.push({ candidate, isConflict: isConflict(candidate, first) });
    }
  }
  return { unique, duplicates };
}
