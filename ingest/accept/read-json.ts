import { findJsonProblem } from './find-json-problem.js';
import { quoteUnfaithfulNumbers } from './quote-unfaithful-numbers.js';
import type { Refusal } from './refusal.js';
import { DEPTH_MAX, surveyJson } from './survey-json.js';

/** A parsed request body in which no digit of a number is lost. */
export type JsonDocument = {
  /**
   * The parsed body, in which a number that is not what JavaScript prints (`1.50`, `1e400`) is a
   * string with its text. Nobody else holds it, so it may be worked on in place.
   */
  readonly value: unknown;
  /** Whether there is such a number, so that a string may have been a number. */
  readonly hasQuotedNumbers: boolean;
  /** The body as `JSON.parse` sees it, parsed when first asked for: for the rare doubt. */
  readonly plainValue: () => unknown;
  /**
   * Whether a text can hold NUL or half a surrogate pair: valid UTF-8 carries them as `\u` escapes
   * only.
   */
  readonly hasUnicodeEscapes: boolean;
};

const SURVEY_PROBLEMS = {
  too_deep: `is nested more than ${DEPTH_MAX} levels deep: send events as flat objects`,
  too_many_values:
    'holds more values than 1000 events of 250 properties: send fewer events in one request',
} as const;

/**
 * Reads a request body. Of a member that stands twice in one object the last counts, as in
 * `JSON.parse`.
 */
export function readJson(text: string): JsonDocument | Refusal {
  const excess = surveyJson(text);
  if (excess !== null) return { member: 'body', problem: SURVEY_PROBLEMS[excess] };
  const quoted = quoteUnfaithfulNumbers(text);
  let value: unknown;
  try {
    value = JSON.parse(quoted ?? text);
  } catch {
    const found = findJsonProblem(text) ?? { position: 0, problem: 'a value is wanted' };
    const problem = `is not JSON: at position ${found.position}, ${found.problem}`;
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
