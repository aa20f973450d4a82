import { isDigit, isQuote, jsonStringEnd, startsNumber } from '../../contract/json-string-end.js';

const POINT = 0x2e;
const PLUS = 0x2b;
const MINUS = 0x2d;
const UPPER_E = 0x45;
const LOWER_E = 0x65;
const COLON = 0x3a;
const SPACE = 0x20;
const ZERO = 0x30;

/** The grammar of a JSON number. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * A longer number is left as it is, so that no regular expression runs over megabytes. Nothing is
 * lost: no event may be as long as this, so its event is rejected anyway.
 */
const TOKEN_LENGTH_MAX = 128 * 1024;

function continuesNumber(code: number): boolean {
  return (
    isDigit(code) ||
    code === POINT ||
    code === LOWER_E ||
    code === UPPER_E ||
    code === PLUS ||
    code === MINUS
  );
}

function isMemberName(json: string, end: number): boolean {
  let index = end;
  while (index < json.length && json.charCodeAt(index) <= SPACE) index += 1;
  return json.charCodeAt(index) === COLON;
}

/** An integer of at most this many digits is exact in a double, and `String` prints its digits. */
const EXACT_DIGITS_MAX = 15;

/**
 * Whether `[start, end)` is `0` or a short integer without a sign. By far the most numbers are, and
 * this test is much cheaper than `losesItsText`.
 */
function isShortInteger(json: string, start: number, end: number): boolean {
  if (end - start > EXACT_DIGITS_MAX || !isDigit(json.charCodeAt(start))) return false;
  if (json.charCodeAt(start) === ZERO && end - start > 1) return false;
  for (let index = start + 1; index < end; index += 1) {
    if (!isDigit(json.charCodeAt(index))) return false;
  }
  return true;
}

/** Whether `JSON.parse` followed by `String` turns the number into another text. */
function losesItsText(token: string): boolean {
  return token.length <= TOKEN_LENGTH_MAX && String(Number(token)) !== token && NUMBER.test(token);
}

/**
 * Puts every number in quotes that `JSON.parse` followed by `String` would turn into another text;
 * returns `null` when there is no such number. So `1.50`, `-0`, `1e400` and numbers of 400 digits
 * become strings, while `1.5` and `200` stay numbers.
 *
 * The text need not be valid JSON: the result is valid exactly when the text is. Only a complete
 * number of the JSON grammar is quoted. Where a number may stand, a string may stand too, and
 * elsewhere the text is invalid with or without the quotes. The exception is the name of a member,
 * where only a string may stand; numbers in that place are therefore left alone.
 *
 * One linear pass by hand: a regular expression over the whole text keeps a stack entry per
 * character of a repeated group, and a string of 32 MiB would overflow the stack.
 */
export function preserveNumberText(json: string): string | null {
  let quoted = '';
  let copiedTo = 0;
  let index = 0;
  while (index < json.length) {
    const code = json.charCodeAt(index);
    if (isQuote(code)) {
      index = jsonStringEnd(json, index);
    } else if (startsNumber(code)) {
      const start = index;
      do index += 1;
      while (index < json.length && continuesNumber(json.charCodeAt(index)));
      if (isShortInteger(json, start, index)) continue;
      const token = json.slice(start, index);
      if (losesItsText(token) && !isMemberName(json, index)) {
        quoted += `${json.slice(copiedTo, start)}"${token}"`;
        copiedTo = index;
      }
    } else {
      index += 1;
    }
  }
  return copiedTo === 0 ? null : quoted + json.slice(copiedTo);
}
