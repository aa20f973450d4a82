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
import type { FoldedBatch } from './fold-batch.js';

/** JSONCompactEachRow lines for one table; values in the order of its columns. */
export type EncodedRows = { readonly rows: number; readonly text: string };
export type EncodedBatch = Readonly<Record<BatchTable, EncodedRows>>;

/** One line for each item. */
function encodeLines<T>(items: readonly T[], toRow: (item: T) => readonly unknown[]): EncodedRows {
  const lines = items.map((item) => JSON.stringify(toRow(item)));
  return { rows: lines.length, text: lines.length === 0 ? '' : `${lines.join('\n')}\n` };
}

const encodeEvent = rowEncoder(EVENT_COLUMNS);
const encodeId = rowEncoder(ID_COLUMNS);
const encodeDuplicate = rowEncoder(DUPLICATE_COLUMNS);
const encodeDeadLetter = rowEncoder(DEAD_LETTER_COLUMNS);

/** Lines of usage rows, as the insert of the usage table reads them. */
export function encodeDeltas(deltas: readonly UsageMinute[]): EncodedRows {
  return encodeLines(deltas, encodeMinute);
}

/** Usage, then how many events were decoded, then the marker of the batch. */
function encodeUsage(range: BatchRange, { deltas, accepted }: FoldedBatch): EncodedRows {
  const acceptedRows = accepted.map((count) => acceptedRow(range, count));
  return encodeDeltas([...deltas, ...acceptedRows, markerRow(range)]);
}

/**
 * The lines of every table of a batch. Encoded here, since encoding rows as objects costs the
 * client twice the time.
 */
export function encodeBatch(range: BatchRange, batch: FoldedBatch): EncodedBatch {
  const { unique, duplicates, deadLetters } = batch;
  return {
    events: encodeLines(unique, (event) => encodeEvent(event, range)),
    ids: encodeLines(unique, (event) => encodeId(event, range)),
    usage: encodeUsage(range, batch),
    duplicates: encodeLines(duplicates, (duplicate) => encodeDuplicate(duplicate, range)),
    deadLetters: encodeLines(deadLetters, (letter) => encodeDeadLetter(letter, range)),
  };
}

/**
 * Texts whose hash, one after the other, is the digest of an intent: equal digests mean that a
 * replay writes the same rows into the same tables. In parts, since together they are as large as
 * the batch.
 */
export function digestTexts(encoded: EncodedBatch): readonly string[] {
  return BATCH_TABLES.flatMap((table) => [
    `${TABLES[table].table}:${encoded[table].rows}\n`,
    encoded[table].text,
  ]);
}
