import { isStorable, UNSTORABLE_PROBLEM } from './event-text.js';
import type { Refusal } from './refusal.js';
import { shownName } from './refusal.js';

/** Keys of one event's properties (api.md 1.7). */
export const PROPERTY_KEYS_MAX = 250;

/** What the texts of one event add up to; see `isEventTooLarge`. */
export type PropertyTexts = {
  readonly properties: Readonly<Record<string, string>>;
  /** UTF-16 code units of keys and values together. */
  readonly codeUnits: number;
  readonly propertyCount: number;
  /** How many values were numbers or booleans, which stand in the source without quotes. */
  readonly bareValues: number;
};

export type PropertySource = {
  /** A fresh object from the parser that nobody else holds. */
  readonly parsed: Record<string, unknown>;
  /** The same object with the numbers as `JsonDocument.exactValue` has them. */
  readonly exact: () => Readonly<Record<string, unknown>>;
  readonly hasUnicodeEscapes: boolean;
};

function wrongKind(value: unknown): string {
  if (value === null) return 'is null: leave the key out';
  const kind = Array.isArray(value) ? 'a list' : 'an object';
  return `is ${kind}: send a text, a number or a boolean`;
}

function refusalOf(key: string, problem: string): Refusal {
  return { member: `properties.${shownName(key)}`, problem };
}

function textOf(value: unknown, key: string, source: PropertySource): string | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return String(source.exact()[key]);
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      return null;
  }
}

/**
 * Checks the properties of an event and turns every value into its text (domain.md 7.3).
 *
 * The parsed object itself becomes the result, its numbers and booleans overwritten: no copy in the
 * hottest loop, and a key `__proto__`, which the parser made an own member, stays one.
 */
export function acceptProperties(source: PropertySource): PropertyTexts | Refusal {
  const keys = Object.keys(source.parsed);
  if (keys.length > PROPERTY_KEYS_MAX) {
    const problem = `has ${keys.length} keys: send at most ${PROPERTY_KEYS_MAX}`;
    return { member: 'properties', problem };
  }
  let codeUnits = 0;
  let bareValues = 0;
  for (const key of keys) {
    const value = source.parsed[key];
    const text = textOf(value, key, source);
    if (text === null) return refusalOf(key, wrongKind(value));
    if (source.hasUnicodeEscapes && !(isStorable(key) && isStorable(text))) {
      return refusalOf(key, UNSTORABLE_PROBLEM);
    }
    codeUnits += key.length + text.length;
    if (typeof value !== 'string') {
      source.parsed[key] = text;
      bareValues += 1;
    }
  }
  // Every value was just checked or replaced by a text.
  const properties = source.parsed as Readonly<Record<string, string>>;
  return { properties, codeUnits, propertyCount: keys.length, bareValues };
}
