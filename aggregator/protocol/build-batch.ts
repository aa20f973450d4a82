import type { InstantMs } from '../../contract/instant.js';
import { BATCH_TABLES } from '../fold/batch-tables.js';
import { batchLength, type BatchBounds, type InsertBounds } from '../fold/cut-batch.js';
import type { DecodedRecord } from '../fold/candidate.js';
import { digestParts } from '../fold/encode-rows.js';
import { foldBatch, type FoldedBatch } from '../fold/fold-batch.js';
import { keepFold, refold } from '../fold/refold-batch.js';
import { summarizeBatch } from '../fold/summarize-batch.js';
import { charactersOfDeltas } from '../fold/usage-size.js';
import type {
  Batch,
  BatchFacts,
  BatchFold,
  Catalog,
  Draft,
  FoldedDraft,
  HaltReason,
  MachineSettings,
} from './state.js';

/** The records of the next batch, and where it ends; null when there are none. */
export function draftBatch(
  records: readonly DecodedRecord[],
  catalog: Catalog,
  bounds: BatchBounds,
): Draft | null {
  const taken = records.slice(0, batchLength(records, catalog.meters, bounds));
  const last = taken.at(-1);
  if (last === undefined) return null;
  return { records: taken, catalog, end: last.offset + 1 };
}

/**
 * When the log appended the first record of a draft; all of them are of one day. A draft without
 * records, which is never made, would be of any time.
 */
export function appendedAtMsOf({ records }: Draft): InstantMs {
  return records[0]?.appendedAtMs ?? 0;
}

/** Distinct ids of a draft, each of which may have been counted before. */
export function idHashesOf(draft: Draft): readonly string[] {
  const idHashes = new Set<string>();
  for (const record of draft.records) {
    for (const candidate of record.candidates) idHashes.add(candidate.idHash);
  }
  return [...idHashes];
}

/** The first half of a draft's records, or the only one. */
export function firstHalf(draft: Draft): Draft {
  const records = draft.records.slice(0, Math.ceil(draft.records.length / 2));
  const end = (records.at(-1)?.offset ?? draft.end - 1) + 1;
  return { ...draft, records, end };
}

function batchOf(draft: Draft, { kept, digestWith }: BatchFold): Batch {
  const { range, folded, encoded } = kept;
  return {
    ...{ range, encoded, catalogVersion: draft.catalog.version },
    appendedAtMs: appendedAtMsOf(draft),
    summary: summarizeBatch(folded),
    digest: digestWith(digestParts(encoded, ['usage'])),
  };
}

/** The tables before usage, which no catalog changes: their part of the digest is made once. */
const TABLES_OF_RECORDS = BATCH_TABLES.filter((table) => table !== 'usage');

/** Whether the rows of a batch are more than one insert of its table can write. */
function isTooLarge(
  { unique, duplicates, deadLetters, deltas, accepted }: FoldedBatch,
  { insertRowsMax, insertCharactersMax }: InsertBounds,
): boolean {
  const usageRows = deltas.length + accepted.length + 1;
  const rows = Math.max(unique.length, duplicates.length, deadLetters.length, usageRows);
  return rows > insertRowsMax || charactersOfDeltas(deltas) > insertCharactersMax;
}

/**
 * Folds and encodes a draft. `seen` holds those of its ids that were counted below it. A draft
 * whose rows cannot be written comes back as the reason to halt: the bounds of a new batch prevent
 * it, but a batch may have been intended under other bounds.
 */
export function buildBatch(
  settings: MachineSettings,
  start: number,
  { draft, seen }: Pick<BatchFacts, 'draft' | 'seen'>,
): FoldedDraft | HaltReason {
  const { logId, partition, digestAfter } = settings;
  const range = { logId, partition, start, end: draft.end };
  const folded = foldBatch(draft.records, seen, draft.catalog.meters);
  if (isTooLarge(folded, settings)) return 'batch_too_large';
  const kept = keepFold(range, folded);
  const digestWith = digestAfter(digestParts(kept.encoded, TABLES_OF_RECORDS));
  const fold = { kept, digestWith };
  return { batch: batchOf(draft, fold), fold };
}

/** The same batch with a newer catalog. Its records, and their digest, stay what they are. */
export function rebuildBatch({ draft, fold }: BatchFacts, catalog: Catalog): FoldedDraft {
  const kept = refold(fold.kept, { from: draft.catalog.meters, to: catalog.meters });
  const refolded = { ...fold, kept };
  return { batch: batchOf({ ...draft, catalog }, refolded), fold: refolded };
}
