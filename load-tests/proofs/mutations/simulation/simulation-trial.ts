import { explore } from '../../simulation/exhaustive.js';
import { MUTATIONS, type Mutation } from '../../simulation/mutations.js';
import { walk } from '../../simulation/random-walk.js';
import { createScenario } from '../../simulation/scenario.js';
import { SMALL_WORLDS } from '../../simulation/small-worlds.js';
import type { MutationTrial } from '../mutation.js';

type SimulationMutation = { readonly name: Mutation };

/** How far the two searches go for one mutation. */
export type SimulationEffort = { readonly seedsMax: number; readonly statesMax: number };

/** What is wrong with the first random world that notices the mutation, and its seed. */
function catchAtRandom(name: Mutation, seedsMax: number): string | null {
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const { failure } = walk(seed, name);
    if (failure === null) continue;
    const { failure: alone } = walk(seed);
    if (alone !== null) throw new Error(`seed ${seed} is wrong without it, too: ${alone.wrong}`);
    return `${failure.wrong} (seed ${seed})`;
  }
  return null;
}

/** What is wrong in the first small world that notices the mutation, and the effort. */
function catchExhaustively(mutation: Mutation, statesMax: number): string | null {
  for (const { name, plan } of SMALL_WORLDS) {
    const { failure, states } = explore(createScenario(plan, mutation), statesMax);
    if (failure === null) continue;
    return `${failure.wrong} (${name}: ${states} states, ${failure.actions.length} actions)`;
  }
  return null;
}

/**
 * Rules that a simulated world leaves out. The mutant is a switch of the model and not an edit, so
 * it always starts. The findings are those of the world's checks, in random worlds and by an
 * exhaustive search. Without a mutation these worlds are right, as the simulator's tests show.
 */
export function createSimulationTrial(effort: SimulationEffort): MutationTrial<SimulationMutation> {
  return {
    mutations: MUTATIONS.map((name) => ({ name })),
    control: () => Promise.resolve(null),
    run: ({ name }) => {
      const random = catchAtRandom(name, effort.seedsMax);
      const exhaustive = catchExhaustively(name, effort.statesMax);
      const found = [random, exhaustive].filter((one) => one !== null);
      return Promise.resolve(
        found.length === 0
          ? { kind: 'missed' }
          : { kind: 'caught', finding: [...new Set(found)].join('; ') },
      );
    },
  };
}
