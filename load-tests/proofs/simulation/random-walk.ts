import type { Action } from './actions.js';
import { applyAction, startWorld } from './apply-action.js';
import { calmDown, runActions } from './calm.js';
import { checkWorld } from './checks.js';
import { chooseAction, type Choice } from './choose-action.js';
import type { Failure } from './exhaustive.js';
import type { Mutation } from './mutations.js';
import { drawPlan } from './random-plan.js';
import { createScenario, type Scenario } from './scenario.js';
import { createSeededRandom } from '../../harness/seeded-random.js';

export type Walk = {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly steps: number;
  readonly failure: Failure | null;
};

/** Runs the world of a seed with failures, then to its end without. All depends on the seed. */
export function walk(seed: number, mutation: Mutation | null = null): Walk {
  const random = createSeededRandom(seed).next;
  const { plan, dangers, actions: choices } = drawPlan(random);
  const scenario = createScenario(plan, mutation);
  const sleeps = plan.logs.map(() => Array.from({ length: plan.owners }, () => 0));
  const spells = { partition: 0, alone: 0, stalled: 0 };
  const choice: Choice = { scenario, random, dangers, sleeps, spells };
  const actions: Action[] = [];
  let world = startWorld(scenario);
  for (let chosen = 0; chosen < choices; chosen += 1) {
    const action = chooseAction(choice, world);
    if (action === null) continue;
    const next = applyAction(scenario, world, action);
    if (next === null) continue;
    actions.push(action);
    const wrong = checkWorld(scenario, next, world);
    world = next;
    if (wrong !== null)
      return { seed, scenario, steps: actions.length, failure: { wrong, actions } };
  }
  const calm = calmDown(scenario, world);
  const failure = calm.wrong === null ? null : { wrong: calm.wrong, actions };
  return { seed, scenario, steps: actions.length + calm.steps, failure };
}

/** What is wrong after these actions and the end that follows; null when nothing is. */
export function wrongAfter(scenario: Scenario, actions: readonly Action[]): string | null {
  const run = runActions(scenario, startWorld(scenario), actions);
  return run.wrong ?? calmDown(scenario, run.world).wrong;
}
