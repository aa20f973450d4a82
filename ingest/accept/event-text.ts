/** Characters (code points) of an event's id, name, customer references and source (api.md 1.7). */
export const TEXT_CHARACTERS_MAX = 255;

/** NUL, or half of a surrogate pair. */
const UNSTORABLE = /[\0\ud800-\udfff]/u;

/**
 * Whether a text comes back from every store as it was sent. PostgreSQL refuses NUL in a text; half
 * a surrogate pair has no UTF-8 form and is replaced by U+FFFD, so that two different ids would
 * become one. All else is kept as it is, control characters included.
 */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

export const UNSTORABLE_PROBLEM =
  'holds NUL or half of a surrogate pair, which cannot be stored: remove it';

/** Whether the text has more characters than allowed; astral characters count once. */
export function isTooLong(text: string): boolean {
  if (text.length <= TEXT_CHARACTERS_MAX) return false;
  if (text.length > 2 * TEXT_CHARACTERS_MAX) return true;
  return [...text].length > TEXT_CHARACTERS_MAX;
}
