const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The index after the string whose opening quote is at `start`; the length of the text when the
 * string has no end. It jumps from quote to quote and counts the backslashes before each one. This
 * is linear, since no backslash is counted for two quotes.
 */
export function jsonStringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - 1 - before) % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

export function isQuote(code: number): boolean {
  return code === QUOTE;
}

/** Whether a JSON number can begin with the character: a digit or the minus sign. */
export function startsNumber(code: number): boolean {
  return isDigit(code) || code === 0x2d;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
