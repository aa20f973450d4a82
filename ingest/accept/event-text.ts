/**
 * The most code points of an event's id, name, customer references and source (docs/http.md 1.7).
 */
export const TEXT_CHARACTERS_MAX = 255;

/** NUL, or half of a surrogate pair. */
const UNSTORABLE = /[\0\ud800-\udfff]/u;

/**
 * Whether every store returns the text as it was sent. PostgreSQL refuses NUL. Half a surrogate
 * pair has no UTF-8 form and is replaced by U+FFFD, so that two different ids would become one.
 * Everything else is kept, control characters included.
 */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

export const UNSTORABLE_PROBLEM =
  'holds NUL or half of a surrogate pair, which cannot be stored: remove it';

/** Whether the text has more than `TEXT_CHARACTERS_MAX` code points. */
export function isTooLong(text: string): boolean {
  if (text.length <= TEXT_CHARACTERS_MAX) return false;
  if (text.length > 2 * TEXT_CHARACTERS_MAX) return true;
  return [...text].length > TEXT_CHARACTERS_MAX;
}
