import { projectRoot } from '../../../../runtime/project.js';
import { SCENARIOS } from '../../faults/scenarios/all-scenarios.js';
import { playScenario, type Bench, type Scenario } from '../../faults/scenarios/scenario.js';
import { startProblem } from '../../faults/world/start-problem.js';
import { inMutatedCopy } from '../mutated-copy.js';
import type { MutationOutcome, MutationTrial } from '../mutation.js';
import { AUDIT_MUTATIONS } from './audit-mutations.js';
import { EDGE_MUTATIONS } from './edge-mutations.js';
import type { EventPathMutation } from './event-path-mutation.js';
import { PROTOCOL_MUTATIONS } from './protocol-mutations.js';

export const EVENT_PATH_MUTATIONS: readonly EventPathMutation[] = [
  ...PROTOCOL_MUTATIONS,
  ...EDGE_MUTATIONS,
  ...AUDIT_MUTATIONS,
];

/** The files that programs need to run. */
const COPIED = [
  'dist',
  'package.json',
  'sql/migrations',
  'sql/functions',
  'sql/queries',
  'clickhouse/migrations',
  'clickhouse/queries',
  'billing-api/generated',
];

/** A halted partition never finishes, so a longer wait would show nothing more. */
const SETTLE_TIMEOUT_MS = 40_000;

type Ground = Pick<Bench, 'engines' | 'log'>;

/** @throws Error when the scenario does not exist any more, or the text fits several. */
export function scenarioOf({ name, scenario }: EventPathMutation): Scenario {
  const [found, ...others] = SCENARIOS.filter((one) => one.name.startsWith(scenario));
  if (found === undefined || others.length > 0) {
    throw new Error(`${name}: ${others.length + (found ? 1 : 0)} scenarios are "${scenario}"`);
  }
  return found;
}

async function play(scenario: Scenario, bench: Bench): Promise<MutationOutcome> {
  const problem = await startProblem(bench);
  if (problem !== null) return { kind: 'broken', why: `it does not start: ${problem}` };
  const { problems, crashes } = await playScenario(scenario, bench);
  const [crash] = crashes;
  if (crash !== undefined) return { kind: 'broken', why: crash };
  const [finding] = problems;
  return finding === undefined ? { kind: 'missed' } : { kind: 'caught', finding };
}

/** Mutations of the real build, each tried against the scenario that must notice. */
export function createEventPathTrial(ground: Ground): MutationTrial<EventPathMutation> {
  const benchOf = (buildRoot: string, isLong = false): Bench => ({
    ...ground,
    buildRoot,
    isLong,
    settleTimeoutMs: SETTLE_TIMEOUT_MS,
  });
  const controls = new Map<string, Promise<string | null>>();
  const control = async (scenario: Scenario, isLong?: true): Promise<string | null> => {
    const outcome = await play(scenario, benchOf(projectRoot, isLong));
    if (outcome.kind === 'missed') return null;
    return outcome.kind === 'caught' ? outcome.finding : outcome.why;
  };
  return {
    mutations: EVENT_PATH_MUTATIONS.filter(({ onlyOn = ground.log }) => onlyOn === ground.log),
    control: (mutation) => {
      const scenario = scenarioOf(mutation);
      const key = `${scenario.name} ${String(mutation.isLong)}`;
      const known = controls.get(key) ?? control(scenario, mutation.isLong);
      controls.set(key, known);
      return known;
    },
    run: (mutation) =>
      inMutatedCopy(COPIED, mutation.edits, (root) =>
        play(scenarioOf(mutation), benchOf(root, mutation.isLong)),
      ),
  };
}
