import { isQuote, jsonStringEnd } from './json-string-end.js';

/**
 * A legal request has four levels (envelope, list, event, properties). The limit is higher, so that
 * a slightly wrong request gets a message about the member that is wrong.
 */
export const DEPTH_MAX = 32;

/**
 * Higher than any legal request needs: 1000 events of 250 properties and eight members are 258,000
 * values. Values are counted by commas and opening brackets: the first value of a container follows
 * its bracket, every other value a comma.
 */
export const VALUES_MAX = 300_000;

/**
 * Shorter texts are not checked, because `JSON.parse` needs 15 ms for the worst of them. Measured
 * on Node 20 with 32 MiB: open brackets take 6 s, empty objects 9.5 s and 1.1 GB, distinct keys
 * 2 GB; the check takes 0.1 s.
 */
const HARMLESS_LENGTH_MAX = 256 * 1024;

const COMMA = 0x2c;

function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

/**
 * The limit that a text exceeds, or `null`. Called before `JSON.parse`, which has no limits of its
 * own. One linear pass; the text need not be valid JSON.
 */
export function checkJsonLimits(text: string): 'too_deep' | 'too_many_values' | null {
  if (text.length <= HARMLESS_LENGTH_MAX) return null;
  let depth = 0;
  let values = 0;
  let index = 0;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (isQuote(code)) {
      index = jsonStringEnd(text, index);
      continue;
    }
    index += 1;
    if (isClosing(code)) depth -= 1;
    else if (code === COMMA || isOpening(code)) {
      values += 1;
      if (code !== COMMA) depth += 1;
    }
    if (depth > DEPTH_MAX) return 'too_deep';
    if (values > VALUES_MAX) return 'too_many_values';
  }
  return null;
}
