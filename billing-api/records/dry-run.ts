import { isRefusal, Refusal } from './refusal.js';

/** Carries what would be done out of a unit that is rolled back; never leaves this file. */
class DryRun extends Refusal {
  constructor(readonly result: unknown) {
    super('invalid_operation', 'only a look');
  }
}

/** What a unit has done, so that the unit is rolled back and nothing of it is stored. */
export function undone(result: unknown): Refusal {
  return isRefusal(result) ? result : new DryRun(result);
}

/** What a unit answered, or would have done if it had not been undone. */
export function resultOf<Result>(answer: Result | Refusal): Result | Refusal {
  // `undone` has taken the result of the same unit.
  return answer instanceof DryRun ? (answer.result as Result) : answer;
}
