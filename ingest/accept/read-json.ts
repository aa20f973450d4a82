import { findJsonProblem } from './find-json-problem.js';
import { preserveNumberText } from './preserve-number-text.js';
import type { EventProblem } from './event-problem.js';
import { checkJsonLimits } from '../../contract/check-json-limits.js';
import { EVENT_JSON_LIMITS } from './event-json-limits.js';

/** A parsed request body that keeps every digit of every number. */
export type JsonDocument = {
  /**
   * The parsed body. A number that JavaScript would print differently (`1.50`, `1e400`) is a string
   * with the number's text. Nothing else refers to the value, so it may be changed in place.
   */
  readonly value: unknown;
  /** Whether the body has such a number. If so, a string of `value` may have been a number. */
  readonly hasQuotedNumbers: boolean;
  /** The body as `JSON.parse` alone reads it; rarely needed, so the first call parses it. */
  readonly plainValue: () => unknown;
  /**
   * Whether a string can hold NUL or half a surrogate pair. The body is valid UTF-8 without control
   * characters in strings, so these can come only from `\u` escapes.
   */
  readonly hasUnicodeEscapes: boolean;
};

const LIMIT_PROBLEMS = {
  too_deep: `is nested more than ${EVENT_JSON_LIMITS.depthMax} levels deep: send events as flat objects`,
  too_many_values:
    'holds more values than 1000 events of 250 properties: send fewer events in one request',
} as const;

/**
 * Parses a request body. When a member stands twice in one object, the last one counts, as in
 * `JSON.parse`.
 */
export function readJson(text: string): JsonDocument | EventProblem {
  const excess = checkJsonLimits(text, EVENT_JSON_LIMITS);
  if (excess !== null) return { member: 'body', problem: LIMIT_PROBLEMS[excess] };
  const quoted = preserveNumberText(text);
  let value: unknown;
  try {
    value = JSON.parse(quoted ?? text);
  } catch {
    const found = findJsonProblem(text) ?? { position: 0, problem: 'expected a value' };
    const problem = `is not valid JSON at position ${found.position}: ${found.problem}`;
    return { member: 'body', problem };
  }
  let plain: { readonly value: unknown } | null = null;
  return {
    value,
    hasQuotedNumbers: quoted !== null,
    plainValue: () => (plain ??= { value: JSON.parse(text) }).value,
    hasUnicodeEscapes: text.includes('\\u'),
  };
}
