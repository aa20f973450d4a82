import { isDigit, isQuote, jsonStringEnd, startsNumber } from './json-string-end.js';

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
 * No event may be as long as this, so a longer number can stay as it is: its event is refused
 * anyway, and no regular expression sees a text of megabytes.
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

/** Integers of at most this many digits are exact in a double and printed as they are. */
const EXACT_DIGITS_MAX = 15;

/**
 * Whether `[start, end)` is `0` or a short integer without sign: the most frequent number by far.
 */
function isShortInteger(json: string, start: number, end: number): boolean {
  if (end - start > EXACT_DIGITS_MAX || !isDigit(json.charCodeAt(start))) return false;
  if (json.charCodeAt(start) === ZERO && end - start > 1) return false;
  for (let index = start + 1; index < end; index += 1) {
    if (!isDigit(json.charCodeAt(index))) return false;
  }
  return true;
}

/** Whether the number would come out of `JSON.parse` and `String` as another text. */
function isUnfaithful(token: string): boolean {
  return token.length <= TOKEN_LENGTH_MAX && String(Number(token)) !== token && NUMBER.test(token);
}

/**
 * The text with every number that would not survive `JSON.parse` and `String` put in quotes; `null`
 * when there is none. So `1.50`, `-0`, `1e400` and 400-digit numbers become texts, while `1.5` and
 * `200` stay numbers whose `String` is their text.
 *
 * The text need not be JSON: the result is JSON exactly when the text is. Only a whole number by
 * the grammar is quoted, so it stands where a value may stand or the text is broken either way;
 * the one place where a string may stand and a number may not, the name of a member, is left out.
 *
 * One linear pass, without a regular expression over the whole: these keep a stack entry per
 * character of a repeated group, which a string of 32 MiB overflows.
 */
export function quoteUnfaithfulNumbers(json: string): string | null {
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
      if (isUnfaithful(token) && !isMemberName(json, index)) {
        quoted += `${json.slice(copiedTo, start)}"${token}"`;
        copiedTo = index;
      }
    } else {
      index += 1;
    }
  }
  return copiedTo === 0 ? null : quoted + json.slice(copiedTo);
}
