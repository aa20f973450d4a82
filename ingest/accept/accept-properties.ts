import { isStorable, UNSTORABLE_PROBLEM } from './event-text.js';
import { shownName, type EventProblem } from './event-problem.js';

/** Keys of one event's properties (docs/http.md 1.7). */
export const PROPERTY_KEYS_MAX = 250;

export type PropertyTexts = {
  readonly properties: Readonly<Record<string, string>>;
  /** UTF-16 code units of keys and values together. */
  readonly codeUnits: number;
  readonly propertyCount: number;
};

function wrongKind(value: unknown): string {
  if (value === null) return 'is null: leave the key out';
  const kind = Array.isArray(value) ? 'a list' : 'an object';
  return `is ${kind}: send a string, a number or a boolean`;
}

function problemOf(key: string, problem: string): EventProblem {
  return { member: `properties.${shownName(key)}`, problem };
}

/**
 * Checks the properties of an event and turns every value into its text (docs/domain.md 7.3).
 * `String` prints the exact text of every number here, because the other numbers were put in quotes
 * before parsing (`JsonDocument`).
 *
 * The parsed object itself becomes the result; its numbers and booleans are overwritten. This saves
 * a copy in the hottest loop and keeps a key `__proto__`, which the parser made an own member.
 */
export function acceptProperties(
  parsed: Record<string, unknown>,
  hasUnicodeEscapes: boolean,
): PropertyTexts | EventProblem {
  const keys = Object.keys(parsed);
  if (keys.length > PROPERTY_KEYS_MAX) {
    const problem = `has ${keys.length} keys: send at most ${PROPERTY_KEYS_MAX}`;
    return { member: 'properties', problem };
  }
  let codeUnits = 0;
  for (const key of keys) {
    const value = parsed[key];
    let text: string;
    if (typeof value === 'string') {
      text = value;
    } else if (typeof value === 'number' || typeof value === 'boolean') {
      text = String(value);
      parsed[key] = text;
    } else {
      return problemOf(key, wrongKind(value));
    }
    if (hasUnicodeEscapes && !(isStorable(key) && isStorable(text))) {
      return problemOf(key, UNSTORABLE_PROBLEM);
    }
    codeUnits += key.length + text.length;
  }
  // The loop has checked that every value is a string, or has replaced it by one.
  const properties = parsed as Readonly<Record<string, string>>;
  return { properties, codeUnits, propertyCount: keys.length };
}
