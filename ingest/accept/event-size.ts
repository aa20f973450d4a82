import { plainEventOf, type EventSource } from './event-source.js';
import { isObject } from '../../contract/is-object.js';

/** The largest event, measured as compact JSON in UTF-8 (docs/http.md 1.7). */
export const EVENT_BYTES_MAX = 64 * 1024;

/** The longest form of one UTF-16 code unit in JSON: `\u0000`. */
const BYTES_PER_CODE_UNIT_MAX = 6;

/** Two pairs of quotes, a colon and a comma. */
const PUNCTUATION_OF_PROPERTY_BYTES = 6;

/**
 * The names and punctuation of seven members (under 300 bytes), and the four texts of at most 255
 * characters, which are two code units each at most.
 */
const OTHER_MEMBERS_BYTES_MAX = 300 + 4 * 2 * 255 * BYTES_PER_CODE_UNIT_MAX;

const utf8 = new TextEncoder();

/** What is known of an event's length without writing it out. */
export type EventLengths = {
  /** UTF-16 code units of the property keys and values and of the name with its blanks. */
  readonly codeUnits: number;
  readonly propertyCount: number;
};

/** The number of property values that the sender wrote without quotes: numbers and booleans. */
function unquotedValuesOf(source: EventSource): number {
  const { properties } = plainEventOf(source);
  return isObject(properties)
    ? Object.values(properties).filter((value) => typeof value !== 'string').length
    : 0;
}

/**
 * Whether an event is larger than allowed; its properties are texts already. It is measured as
 * compact JSON, so that the sender's blanks and escapes do not matter and the same event has the
 * same size alone and in bulk. It is serialised only when its lengths leave the answer open.
 */
export function isEventTooLarge(source: EventSource, lengths: EventLengths): boolean {
  const bytesAtMost =
    OTHER_MEMBERS_BYTES_MAX +
    lengths.codeUnits * BYTES_PER_CODE_UNIT_MAX +
    lengths.propertyCount * PUNCTUATION_OF_PROPERTY_BYTES;
  if (bytesAtMost <= EVENT_BYTES_MAX) return false;
  const bytes = utf8.encode(JSON.stringify(source.value)).length;
  return bytes > EVENT_BYTES_MAX && bytes - 2 * unquotedValuesOf(source) > EVENT_BYTES_MAX;
}
