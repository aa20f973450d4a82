import { Refusal, Refused } from './refusal.js';

/** Carries what would be done out of a unit that is rolled back; never leaves this file. */
class DryRun extends Refusal {
  constructor(readonly result: unknown) {
    super('invalid_operation', 'only a look');
  }
}

/**
 * Rolls the unit back, so that nothing of what it has done is stored.
 * @throws Refused, from which `resultOf` takes what it would have done.
 */
export function undo(result: unknown): never {
  throw new Refused(new DryRun(result));
}

/** What a unit answered, or would have done if it had not been undone. */
export function resultOf<Result>(answer: Result | Refusal): Result | Refusal {
  // `undo` has taken the result of the same unit.
  return answer instanceof DryRun ? (answer.result as Result) : answer;
}
