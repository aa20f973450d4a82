import { rowEncoder } from '../../contract/table-column.js';
import { encodeMinute, type UsageMinute } from '../../contract/usage-minute.js';
import { acceptedRow, markerRow } from './batch-marker.js';
import {
  BATCH_TABLES,
  DEAD_LETTER_COLUMNS,
  DUPLICATE_COLUMNS,
  EVENT_COLUMNS,
  ID_COLUMNS,
  TABLES,
  type BatchRange,
  type BatchTable,
} from './batch-tables.js';
import type { FoldedBatch, FoldedRecords } from './fold-batch.js';

/**
 * JSONCompactEachRow lines for one table; values in the order of its columns. As bytes, which lie
 * outside V8's heap: that may grow to one and a half times of what lives in it.
 */
export type EncodedRows = { readonly rows: number; readonly bytes: Buffer };
export type EncodedBatch = Readonly<Record<BatchTable, EncodedRows>>;
/** The rows that no catalog changes. */
export type EncodedRecords = Omit<EncodedBatch, 'usage'>;

export type DigestPart = string | Buffer;

/** One line for each item. */
function encodeLines<T>(items: readonly T[], toRow: (item: T) => readonly unknown[]): EncodedRows {
  const text = items.map((item) => `${JSON.stringify(toRow(item))}\n`).join('');
  return { rows: items.length, bytes: Buffer.from(text) };
}

const encodeEvent = rowEncoder(EVENT_COLUMNS);
const encodeId = rowEncoder(ID_COLUMNS);
const encodeDuplicate = rowEncoder(DUPLICATE_COLUMNS);
const encodeDeadLetter = rowEncoder(DEAD_LETTER_COLUMNS);

/** Lines of usage rows. */
export function encodeDeltas(deltas: readonly UsageMinute[]): EncodedRows {
  return encodeLines(deltas, encodeMinute);
}

/** Usage, then how many events were decoded, then the marker of the batch. */
export function encodeUsage(range: BatchRange, { accepted, deltas }: FoldedBatch): EncodedRows {
  const acceptedRows = accepted.map((count) => acceptedRow(range, count));
  return encodeDeltas([...deltas, ...acceptedRows, markerRow(range)]);
}

/** The lines of all tables but usage: what no catalog changes. */
export function encodeRecords(
  range: BatchRange,
  { unique, duplicates, deadLetters }: FoldedRecords,
): EncodedRecords {
  return {
    events: encodeLines(unique, (event) => encodeEvent(event, range)),
    ids: encodeLines(unique, (event) => encodeId(event, range)),
    duplicates: encodeLines(duplicates, (duplicate) => encodeDuplicate(duplicate, range)),
    deadLetters: encodeLines(deadLetters, (letter) => encodeDeadLetter(letter, range)),
  };
}

/**
 * The lines of every table of a batch. Encoded here, since encoding rows as objects costs the
 * client twice the time.
 */
export function encodeBatch(range: BatchRange, batch: FoldedBatch): EncodedBatch {
  return { ...encodeRecords(range, batch), usage: encodeUsage(range, batch) };
}

/**
 * What a digest is made of, one part after the other: equal digests mean that a replay writes the
 * same rows into the same tables.
 */
export function digestParts(encoded: EncodedRecords & Partial<EncodedBatch>): DigestPart[] {
  return BATCH_TABLES.flatMap((table) => {
    const lines = encoded[table];
    return lines === undefined ? [] : [`${TABLES[table].table}:${lines.rows}\n`, lines.bytes];
  });
}
