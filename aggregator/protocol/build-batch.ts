import { appendDayOf, batchLength, type BatchBounds } from '../fold/cut-batch.js';
import { digestTexts, encodeBatch } from '../fold/encode-rows.js';
import { foldBatch } from '../fold/fold-batch.js';
import { hasSameMeters, meterKey } from '../fold/meter-index.js';
import { summarizeBatch } from '../fold/summarize-batch.js';
import type { Batch, BatchFacts, Catalog, Draft, MachineSettings } from './state.js';
import type { DecodedRecord } from '../fold/candidate.js';

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

/** Distinct ids of a draft, each of which may have been counted before. */
export function idHashesOf(draft: Draft): readonly string[] {
  const idHashes = new Set<string>();
  for (const record of draft.records) {
    for (const candidate of record.candidates) idHashes.add(candidate.idHash);
  }
  return [...idHashes];
}

/** Whether all events of a draft count on the same meters in another catalog as in its own. */
export function countsTheSame({ records, catalog }: Draft, other: Catalog): boolean {
  const keys = new Set<string>();
  for (const { candidates } of records) {
    for (const { environment, event } of candidates)
      keys.add(meterKey(environment, event.eventName));
  }
  return [...keys].every((key) => hasSameMeters(catalog.meters, other.meters, key));
}

/** The first half of a draft's records, or the only one. */
export function firstHalf(draft: Draft): Draft {
  const records = draft.records.slice(0, Math.ceil(draft.records.length / 2));
  const end = (records.at(-1)?.offset ?? draft.end - 1) + 1;
  return { ...draft, records, end };
}

/** Folds and encodes a draft. `seen` holds those of its ids that were counted below it. */
export function buildBatch(
  settings: MachineSettings,
  start: number,
  { draft, seen }: BatchFacts,
): Batch {
  const { logId, partition, digestOf } = settings;
  const { records, catalog } = draft;
  const range = { logId, partition, start, end: draft.end };
  const folded = foldBatch(records, seen, catalog.meters);
  const encoded = encodeBatch(range, folded);
  const digest = digestOf(digestTexts(encoded));
  const summary = summarizeBatch(folded);
  const [first] = records;
  // A batch has a record; only the type of a list does not say so.
  const appendDay = first === undefined ? 0 : appendDayOf(first);
  return { range, catalogVersion: catalog.version, summary, encoded, digest, appendDay };
}
