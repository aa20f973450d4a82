import type { Action } from './actions.js';
import type { Failure } from './exhaustive.js';
import { wrongAfter } from './random-walk.js';
import type { Scenario } from './scenario.js';

/**
 * The same failure with fewer actions: leaves out halves first, then smaller and smaller parts,
 * until every action is needed. The run skips an action that is not possible any more, so every
 * shorter list is a run, too.
 */
export function shrink(scenario: Scenario, failure: Failure): Failure {
  let kept: Failure = failure;
  let size = Math.ceil(failure.actions.length / 2);
  while (size >= 1) {
    const shorter = dropOnce(scenario, kept, size);
    if (shorter !== null) kept = shorter;
    else if (size === 1) return kept;
    else size = Math.ceil(size / 2);
  }
  return kept;
}

/** One pass over the list; null when every part of this size is needed. */
function dropOnce(scenario: Scenario, failure: Failure, size: number): Failure | null {
  let kept = failure;
  let start = 0;
  while (start < kept.actions.length) {
    const actions: readonly Action[] = [
      ...kept.actions.slice(0, start),
      ...kept.actions.slice(start + size),
    ];
    const wrong = wrongAfter(scenario, actions);
    if (wrong === null) start += size;
    else kept = { wrong, actions };
  }
  return kept === failure ? null : kept;
}
