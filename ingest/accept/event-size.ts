/** One event as compact JSON in UTF-8 (api.md 1.7). */
export const EVENT_BYTES_MAX = 64 * 1024;

/** The longest form of one UTF-16 code unit in JSON: `\u0000`. */
const BYTES_PER_CODE_UNIT_MAX = 6;

const utf8 = new TextEncoder();

export type EventSize = {
  /** The event with its properties turned into texts. */
  readonly event: object;
  /** UTF-16 code units of the property keys and values and of the name with its blanks. */
  readonly codeUnits: number;
  readonly propertyCount: number;
  /** Property values that stand in JSON without the two quotes that their text has now. */
  readonly bareValues: number;
};

/** Names and punctuation of seven members, and the four texts of at most 255 characters. */
const OTHER_MEMBERS_BYTES_MAX = 300 + 4 * 2 * 255 * BYTES_PER_CODE_UNIT_MAX;

/** Two pairs of quotes, a colon and a comma. */
const PUNCTUATION_OF_PROPERTY_BYTES = 6;

/**
 * Whether an event is larger than allowed, measured as compact JSON, so that blanks and escapes of
 * the sender do not matter and the same event is judged alike alone and in bulk. Written out only
 * when the bound that its lengths give does not decide.
 */
export function isEventTooLarge(size: EventSize): boolean {
  const bytesAtMost =
    OTHER_MEMBERS_BYTES_MAX +
    size.codeUnits * BYTES_PER_CODE_UNIT_MAX +
    size.propertyCount * PUNCTUATION_OF_PROPERTY_BYTES;
  if (bytesAtMost <= EVENT_BYTES_MAX) return false;
  const bytes = utf8.encode(JSON.stringify(size.event)).length - 2 * size.bareValues;
  return bytes > EVENT_BYTES_MAX;
}
