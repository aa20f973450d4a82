import { isObject } from '../is-object.js';
import { BULK_EVENTS_MAX, RECORD_CHARACTERS_MAX, usageCharactersOf } from '../records-of-events.js';
import {
  decodeEventRecord,
  hasEscapedSurrogate,
  recordFromValue,
  type EventRecord,
  type UndecodableReason,
} from '../usage-event.js';

/**
 * Version 2 of a log record: several records of version 1 in one value, in the order in which they
 * were accepted. Each keeps its own environment and time of receipt. The outer text names no
 * environment, so that nobody is shown a value that holds events of others.
 */
export const MERGED_RECORD_VERSION = 2;

const MERGED_START = `{"v":${MERGED_RECORD_VERSION},"parts":[`;

/** One value that holds several encoded records; a single one stays as it is. */
export function mergeRecords(values: readonly string[]): string {
  const [only] = values;
  return only !== undefined && values.length === 1 ? only : `${MERGED_START}${values.join(',')}]}`;
}

/** What of a value cannot be read. `text` is a value of its own, decoded like any other. */
export type Unreadable = { readonly reason: UndecodableReason; readonly text: string };

/** What a value of the log holds. Its events are numbered through all parts, in this order. */
export type RecordParts = {
  readonly parts: readonly EventRecord[];
  readonly unreadable: Unreadable | null;
};

/** The parts of a merged value; null for any other text. */
function partsOf(text: string): readonly unknown[] | null {
  if (!text.startsWith(MERGED_START)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && Array.isArray(value['parts']) ? value['parts'] : null;
  } catch {
    return null;
  }
}

function decodeSingle(text: string): RecordParts {
  const decoded = decodeEventRecord(text);
  return typeof decoded === 'string'
    ? { parts: [], unreadable: { reason: decoded, text } }
    : { parts: [decoded], unreadable: null };
}

/**
 * Reads a value of one record or of several, with any number of events. A part that cannot be read
 * spoils no other (docs/internals/architecture.md I7).
 */
export function readRecordParts(text: string): RecordParts {
  const merged = partsOf(text);
  if (merged === null) return decodeSingle(text);
  const parts: EventRecord[] = [];
  const spoilt: Unreadable[] = [];
  const isPlain = !hasEscapedSurrogate(text);
  for (const part of merged) {
    const decoded = isPlain ? recordFromValue(part) : decodeEventRecord(JSON.stringify(part));
    if (typeof decoded === 'string') spoilt.push({ reason: decoded, text: JSON.stringify(part) });
    else parts.push(decoded);
  }
  const [first] = spoilt;
  if (first === undefined) return { parts, unreadable: null };
  const unreadable = { reason: first.reason, text: mergeRecords(spoilt.map(({ text }) => text)) };
  return { parts, unreadable };
}

/**
 * Reads a value of the log. One that is larger than a record may be is unreadable as a whole, since
 * its rows may not fit into one insert (docs/internals/architecture.md 3.4). The product writes
 * none, but another program may.
 */
export function decodeRecordParts(text: string): RecordParts {
  const read = readRecordParts(text);
  const events = read.parts.reduce((sum, part) => sum + part.events.length, 0);
  const fits = usageCharactersOf(text, events) <= RECORD_CHARACTERS_MAX;
  if (events <= BULK_EVENTS_MAX && fits) return read;
  return { parts: [], unreadable: { reason: 'record_too_large', text } };
}
