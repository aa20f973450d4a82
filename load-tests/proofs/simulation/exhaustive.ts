import { actionsOf, type Action } from './actions.js';
import { applyAction, startWorld } from './apply-action.js';
import { checkWorld } from './checks.js';
import type { Scenario } from './scenario.js';
import { createWorldKey } from './world-key.js';
import type { World } from './world.js';

/** What is wrong with a world, and the actions that lead to it. */
export type Failure = { readonly wrong: string; readonly actions: readonly Action[] };

export type Exploration = {
  /** Distinct worlds. */
  readonly states: number;
  /** Actions tried. */
  readonly steps: number;
  /** Worlds in which every record was consumed; without any, a scenario proves nothing. */
  readonly finished: number;
  /** The fewest actions that lead to a wrong world; null when there is none. */
  readonly failure: Failure | null;
  /** Whether every reachable world was seen. */
  readonly isComplete: boolean;
};

/** How a world was reached: from which world, by which action. */
type Found = { readonly from: Found | null; readonly action: Action };
type Reached = { readonly world: World; readonly found: Found | null };

function wayTo(found: Found | null): readonly Action[] {
  const actions: Action[] = [];
  for (let at = found; at !== null; at = at.from) actions.push(at.action);
  return actions.reverse();
}

function isConsumed(scenario: Scenario, world: World): boolean {
  return world.partitions.every(
    ({ row }, index) =>
      row !== null &&
      row.intent === null &&
      row.nextOffset === scenario.partitions[index]?.records.length,
  );
}

class Search {
  readonly #keyOf: (world: World) => string;
  readonly #seen = new Set<string>();
  steps = 0;
  finished = 0;
  failure: Failure | null = null;

  constructor(private readonly scenario: Scenario) {
    this.#keyOf = createWorldKey(scenario);
  }

  get states(): number {
    return this.#seen.size;
  }

  /** Whether a world was not seen before. */
  visit(world: World): boolean {
    const before = this.#seen.size;
    this.#seen.add(this.#keyOf(world));
    return this.#seen.size > before;
  }

  /** Adds the new worlds that are one action away, up to the first wrong one. */
  expand({ world, found }: Reached, next: Reached[]): void {
    for (const action of actionsOf(this.scenario, world)) {
      const reached = applyAction(this.scenario, world, action);
      if (reached === null) continue;
      this.steps += 1;
      if (!this.visit(reached)) continue;
      const way = { from: found, action };
      const wrong = checkWorld(this.scenario, reached, world);
      if (wrong !== null) this.failure = { wrong, actions: wayTo(way) };
      if (wrong !== null) return;
      if (isConsumed(this.scenario, reached)) this.finished += 1;
      next.push({ world: reached, found: way });
    }
  }
}

/**
 * Visits every world that any order of actions can reach, breadth first, so that the first wrong
 * world is one with the fewest actions. Stops after `statesMax` states.
 */
export function explore(scenario: Scenario, statesMax: number): Exploration {
  const search = new Search(scenario);
  const start = startWorld(scenario);
  search.visit(start);
  let frontier: Reached[] = [{ world: start, found: null }];
  while (frontier.length > 0 && search.failure === null && search.states <= statesMax) {
    const next: Reached[] = [];
    for (const reached of frontier) {
      search.expand(reached, next);
      if (search.failure !== null || search.states > statesMax) break;
    }
    frontier = next;
  }
  const { states, steps, finished, failure } = search;
  const isComplete = failure === null && states <= statesMax;
  return { states, steps, finished, failure, isComplete };
}
