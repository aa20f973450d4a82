import type { InstantMs } from '../../contract/instant.js';
import { batchLength, type BatchBounds, type InsertBounds } from '../fold/cut-batch.js';
import type { DecodedRecord } from '../fold/candidate.js';
import { digestParts, encodeRecords, encodeUsage } from '../fold/encode-rows.js';
import { foldRecords, foldUsage, type FoldedBatch } from '../fold/fold-batch.js';
import { summarizeBatch } from '../fold/summarize-batch.js';
import { charactersOfDeltas } from '../fold/usage-size.js';
import type { Batch, Catalog, Draft, HaltReason, MachineSettings, PreparedBatch } from './state.js';

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

/** Separates and encodes what no catalog changes. `seen`: its ids that were counted below it. */
export function prepareBatch(
  { logId, partition, digestOf }: MachineSettings,
  start: number,
  { draft, seen }: Pick<PreparedBatch, 'draft' | 'seen'>,
): PreparedBatch {
  const range = { logId, partition, start, end: draft.end };
  const folded = foldRecords(draft.records, seen);
  const encoded = encodeRecords(range, folded);
  return { draft, seen, range, folded, encoded, digest: digestOf(digestParts(encoded)) };
}

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
 * Folds and encodes the usage of an intended batch. One whose rows cannot be written comes back as
 * the reason to halt: the bounds of a new batch prevent it, but a batch may have been intended
 * under other bounds.
 */
export function completeBatch(
  settings: MachineSettings,
  { draft, range, digest, ...prepared }: PreparedBatch,
): Batch | HaltReason {
  const { version: catalogVersion, meters } = draft.catalog;
  const folded = foldUsage(prepared.folded, meters);
  if (isTooLarge(folded, settings)) return 'batch_too_large';
  return {
    range,
    catalogVersion,
    digest,
    appendedAtMs: appendedAtMsOf(draft),
    summary: summarizeBatch(folded),
    encoded: { ...prepared.encoded, usage: encodeUsage(range, folded) },
  };
}
