import type { DecodedRecord } from './candidate.js';
import { encodeBatch, type BatchRange, type EncodedBatch } from './encode-rows.js';
import { foldVersion1 } from './fold-1.js';
import { foldBatch, type FoldedEvents } from './fold-batch.js';
import type { MeterIndex } from './meter-index.js';
import type { StoredId } from './separate-repeats.js';

export type FoldInput = {
  readonly range: BatchRange;
  readonly records: readonly DecodedRecord[];
  /** Ids of the batch that were counted below it. */
  readonly seen: ReadonlyMap<string, StoredId>;
  readonly meters: MeterIndex;
};
export type FoldOutput = { readonly folded: FoldedEvents; readonly encoded: EncodedBatch };
/** Folds and encodes; the bytes depend on the input alone and never change within a version. */
export type Fold = (input: FoldInput) => FoldOutput;

/** The versions that this release can apply: its own, and the one before it for what is pending. */
export const FOLD_VERSIONS = [1, 2] as const;
export type FoldVersion = (typeof FOLD_VERSIONS)[number];

/**
 * The fold of new batches. Raised only when the output of decode, dedup or fold changes; what the
 * version before writes is then frozen in a file of its own.
 */
export const FOLD_VERSION: FoldVersion = 2;

const FOLDS: Readonly<Record<FoldVersion, Fold>> = {
  1: foldVersion1,
  2: ({ range, records, seen, meters }) => {
    const folded = foldBatch(records, seen, meters);
    return { folded, encoded: encodeBatch(range, folded) };
  },
};

/** Whether a promise of this fold version can be kept by this release. */
export function isFoldVersion(version: number): version is FoldVersion {
  return FOLD_VERSIONS.some((known) => known === version);
}

/** Folds a batch as a version does. */
export function applyFold(version: FoldVersion, input: FoldInput): FoldOutput {
  return FOLDS[version](input);
}
