import { messageOf } from '../../../../runtime/failure.js';
import { projectRoot } from '../../../../runtime/project.js';
import type { FaultEngines, LogKind } from '../../faults/engines/fault-engines.js';
import { SCENARIOS } from '../../faults/scenarios/all-scenarios.js';
import type { Scenario } from '../../faults/scenarios/scenario.js';
import { EDGE_MUTATIONS } from './edge-mutations.js';
import { makeMutatedBuild } from '../mutated-build.js';
import type { Mutation } from '../mutation.js';
import { PROTOCOL_MUTATIONS } from './protocol-mutations.js';

export const MUTATIONS: readonly Mutation[] = [...PROTOCOL_MUTATIONS, ...EDGE_MUTATIONS];

/** What became of a mutation. */
export type MutationReport = {
  readonly mutation: Mutation;
  /** What the scenario found; null when nobody noticed. */
  readonly caughtBy: string | null;
  /** What the same scenario finds on the build as it is: null, or the catch proves nothing. */
  readonly control: string | null;
  readonly seconds: number;
};

/** A partition that halts never settles: waiting longer tells no more. */
const SETTLE_TIMEOUT_MS = 40_000;

type Ground = { readonly engines: FaultEngines; readonly log: LogKind };

async function firstProblem(
  scenario: Scenario,
  ground: Ground,
  buildRoot: string,
): Promise<string | null> {
  const bench = { ...ground, buildRoot, isLong: false, settleTimeoutMs: SETTLE_TIMEOUT_MS };
  try {
    const { problems } = await scenario.run(bench);
    return problems[0] ?? null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Runs mutations, each against the scenario that must fail on it and must pass without it. */
export class MutationTrial {
  readonly #controls = new Map<Scenario, string | null>();

  constructor(private readonly ground: Ground) {}

  /** @throws Error when the mutation or its scenario does not exist any more. */
  async run(mutation: Mutation): Promise<MutationReport> {
    const scenario = SCENARIOS.find(({ name }) => name.startsWith(mutation.scenario));
    if (scenario === undefined) throw new Error(`no scenario begins with "${mutation.scenario}"`);
    const startedAt = performance.now();
    const build = makeMutatedBuild(mutation);
    try {
      const caughtBy = await firstProblem(scenario, this.ground, build.root);
      const control = await this.#controlOf(scenario);
      return { mutation, caughtBy, control, seconds: (performance.now() - startedAt) / 1000 };
    } finally {
      build.remove();
    }
  }

  async #controlOf(scenario: Scenario): Promise<string | null> {
    const known = this.#controls.get(scenario);
    if (known !== undefined) return known;
    const found = await firstProblem(scenario, this.ground, projectRoot);
    this.#controls.set(scenario, found);
    return found;
  }
}

/** One line a mutation. */
export function lineOfMutation({ mutation, caughtBy, control, seconds }: MutationReport): string {
  const fate = caughtBy === null ? 'NOT CAUGHT' : `caught: ${caughtBy}`;
  const doubt = control === null ? '' : ` BUT THE CONTROL FAILS: ${control}`;
  const head = `${mutation.name} → ${mutation.scenario}`;
  return `${head} → ${fate.split('\n', 1)[0] ?? ''}${doubt} (${seconds.toFixed(1)} s)`;
}
