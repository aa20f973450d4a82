import type { UsageAnswer, UsageResult } from '../usage.js';
import type { Disagreement } from './disagreements.js';

function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}

function textOf(result: UsageResult | undefined): string {
  if (result === undefined) return 'nothing';
  const group = result.group === null ? '' : ` ${JSON.stringify(result.group)}`;
  return `${isoOf(result.start)}/${isoOf(result.end)}${group} ${result.value}`;
}

/** The first place at which two answers differ. */
export function difference(expected: UsageAnswer, answer: UsageAnswer | string): string {
  if (typeof answer === 'string') return answer;
  if (answer.value !== expected.value) return `value ${expected.value}, product ${answer.value}`;
  const length = Math.max(expected.results.length, answer.results.length);
  for (let index = 0; index < length; index += 1) {
    const [own, other] = [textOf(expected.results[index]), textOf(answer.results[index])];
    if (own !== other) return `result ${index}: ${own}, product ${other}`;
  }
  return 'the same in other clothes';
}

/** Everything needed to look into it: the seed that repeats the case, question and difference. */
export function describeDisagreement(seed: number, disagreement: Disagreement): string {
  const { stage, check, answer, settledAfterMs } = disagreement;
  const settled = settledAfterMs === null ? 'for good' : `right after ${settledAfterMs} ms`;
  const question = `POST ${check.path} ${JSON.stringify(check.body)}`;
  return [
    `seed ${seed}, ${stage}: oracle ${difference(check.expected, answer)}, ${settled}`,
    `  ${check.about}`,
    `  ${question}`,
  ].join('\n');
}
