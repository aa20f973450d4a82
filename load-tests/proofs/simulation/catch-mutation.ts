import { explore } from './exhaustive.js';
import type { Mutation } from './mutations.js';
import { walk } from './random-walk.js';
import { createScenario } from './scenario.js';
import { SMALL_WORLDS } from './small-worlds.js';

/** What noticed a mutation, and how soon. */
export type Catch = {
  readonly by: string;
  readonly wrong: string;
  readonly effort: string;
};

/** The first seed whose world is wrong under the mutation. */
export function catchAtRandom(mutation: Mutation, seedsMax: number): Catch | null {
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { failure } = walk(seed, mutation);
    if (failure === null) continue;
    return { by: 'random', wrong: failure.wrong, effort: `seed ${seed}` };
  }
  return null;
}

/** The first small world that reaches a wrong state under the mutation. */
export function catchExhaustively(mutation: Mutation, statesMax: number): Catch | null {
  for (const { name, plan } of SMALL_WORLDS) {
    const { failure, states } = explore(createScenario(plan, mutation), statesMax);
    if (failure === null) continue;
    const effort = `${states} states, ${failure.actions.length} actions`;
    return { by: name, wrong: failure.wrong, effort };
  }
  return null;
}
