const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Index just after the string that opens at `start` (where a quote stands); the text's length when
 * the string never ends. Jumps from quote to quote and counts the backslashes before each: linear,
 * since every backslash belongs to the run before one quote only.
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

/** The ten digits and the minus sign: what a JSON number can begin with. */
export function startsNumber(code: number): boolean {
  return isDigit(code) || code === 0x2d;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
