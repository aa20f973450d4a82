import { isQuote, jsonStringEnd } from './json-string-end.js';

/** What a JSON text may hold. */
export type JsonLimits = {
  readonly depthMax: number;
  /** Values of all lists and objects together: elements and members. */
  readonly valuesMax: number;
  /** Texts up to this length are not checked: `JSON.parse` reads the worst of them in no time. */
  readonly harmlessLengthMax: number;
};

const COMMA = 0x2c;

function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

/**
 * The limit that a text exceeds, or `null`. Called before `JSON.parse`, which has no limits of its
 * own. Values are counted by commas and opening brackets: the first value of a container follows
 * its bracket, every other value a comma. One linear pass; the text need not be valid JSON.
 */
export function checkJsonLimits(
  text: string,
  { depthMax, valuesMax, harmlessLengthMax }: JsonLimits,
): 'too_deep' | 'too_many_values' | null {
  if (text.length <= harmlessLengthMax) return null;
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
    if (depth > depthMax) return 'too_deep';
    if (values > valuesMax) return 'too_many_values';
  }
  return null;
}
