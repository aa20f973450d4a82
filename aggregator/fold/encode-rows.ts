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

/**
 * JSONCompactEachRow lines for one table; values in the order of its columns. As bytes, which lie
 * outside V8's heap: that may grow to one and a half times of what lives in it.
 */
export type EncodedRows = { readonly rows: number; readonly bytes: Buffer };
export type EncodedBatch = Readonly<Record<BatchTable, EncodedRows>>;

export type DigestPart = string | Buffer;

function joinLines(lines: readonly string[]): EncodedRows {
  const text = lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  return { rows: lines.length, bytes: Buffer.from(text) };
}

/** One line for each item. */
function encodeLines<T>(items: readonly T[], toRow: (item: T) => readonly unknown[]): EncodedRows {
  return joinLines(items.map((item) => JSON.stringify(toRow(item))));
}

const encodeEvent = rowEncoder(EVENT_COLUMNS);
const encodeId = rowEncoder(ID_COLUMNS);
const encodeDuplicate = rowEncoder(DUPLICATE_COLUMNS);
const encodeDeadLetter = rowEncoder(DEAD_LETTER_COLUMNS);

/** The line of a usage row, as the insert of the usage table reads it. */
export function encodeDelta(delta: UsageMinute): string {
  return JSON.stringify(encodeMinute(delta));
}

/** Lines of usage rows. */
export function encodeDeltas(deltas: readonly UsageMinute[]): EncodedRows {
  return joinLines(deltas.map(encodeDelta));
}

/** Usage, then how many events were decoded, then the marker of the batch. */
export function encodeUsage(
  range: BatchRange,
  { accepted }: Pick<FoldedBatch, 'accepted'>,
  deltaLines: readonly string[],
): EncodedRows {
  const acceptedRows = accepted.map((count) => acceptedRow(range, count));
  const closing = [...acceptedRows, markerRow(range)].map(encodeDelta);
  return joinLines([...deltaLines, ...closing]);
}

/** The lines of all tables but usage: what no catalog changes. */
export function encodeRecords(
  range: BatchRange,
  { unique, duplicates, deadLetters }: Omit<FoldedBatch, 'deltas'>,
): Omit<EncodedBatch, 'usage'> {
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
  const usage = encodeUsage(range, batch, batch.deltas.map(encodeDelta));
  return { ...encodeRecords(range, batch), usage };
}

/**
 * What the digest of an intent is made of, one part after the other: equal digests mean that a
 * replay writes the same rows into the same tables.
 */
export function digestParts(
  encoded: EncodedBatch,
  tables: readonly BatchTable[] = BATCH_TABLES,
): readonly DigestPart[] {
  return tables.flatMap((table) => [
    `${TABLES[table].table}:${encoded[table].rows}\n`,
    encoded[table].bytes,
  ]);
}
