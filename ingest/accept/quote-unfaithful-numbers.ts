import { isDigit, isQuote, jsonStringEnd, startsNumber } from './json-string-end.js';

const POINT = 0x2e;
const PLUS = 0x2b;
const MINUS = 0x2d;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

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

/**
 * The same JSON with every number that would not survive `JSON.parse` and `String` put in quotes;
 * `null` when there is none. So `1.50`, `-0`, `1e400` and 400-digit numbers become texts, while
 * `1.5` and `200` stay numbers whose `String` is their text.
 *
 * One linear pass without regular expressions: these keep a stack entry per character of a repeated
 * group, which a string of 32 MiB overflows.
 *
 * @param json a text that `JSON.parse` has accepted; only then does a digit outside of strings
 *   begin a number.
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
      const token = json.slice(start, index);
      if (String(Number(token)) !== token) {
        quoted += `${json.slice(copiedTo, start)}"${token}"`;
        copiedTo = index;
      }
    } else {
      index += 1;
    }
  }
  return copiedTo === 0 ? null : quoted + json.slice(copiedTo);
}
