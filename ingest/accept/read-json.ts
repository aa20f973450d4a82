import { findJsonProblem } from './find-json-problem.js';
import { quoteUnfaithfulNumbers } from './quote-unfaithful-numbers.js';
import type { Refusal } from './refusal.js';
import { DEPTH_MAX, surveyJson } from './survey-json.js';

/** A parsed request body that still knows the texts of its numbers. */
export type JsonDocument = {
  readonly value: unknown;
  /**
   * The same value in which a number that is not its own text (`1.50`, `1e400`) is a string; made
   * when first asked for.
   */
  readonly exactValue: () => unknown;
  /** The length of the source in UTF-16 code units. */
  readonly length: number;
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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const found = findJsonProblem(text) ?? { position: 0, problem: 'a value is wanted' };
    const problem = `is not JSON: at position ${found.position}, ${found.problem}`;
    return { member: 'body', problem };
  }
  let exact: { readonly value: unknown } | null = null;
  const exactValue = (): unknown => {
    if (exact === null) {
      const quoted = quoteUnfaithfulNumbers(text);
      exact = { value: quoted === null ? value : JSON.parse(quoted) };
    }
    return exact.value;
  };
  return { value, exactValue, length: text.length, hasUnicodeEscapes: text.includes('\\u') };
}
