import { parseArgs } from 'node:util';
import { startFaultEngines, type LogKind } from '../faults/engines/fault-engines.js';
import { createEventPathTrial } from './event-path/event-path-trial.js';
import { createPricingTrial } from './pricing/pricing-trial.js';
import { createSimulationTrial } from './simulation/simulation-trial.js';
import { tryMutations, type MutationTally } from './try-mutations.js';

/**
 * `npm run mutations -- --of event-path|simulation|pricing [--only TEXT] [--log postgres|kafka]`:
 * breaks one rule at a time and shows which named guard notices. Ends with status 1 when a mutation
 * was not caught, or when its mutant is broken and so proves nothing.
 */
const { values } = parseArgs({
  options: {
    of: { type: 'string', default: 'event-path,simulation,pricing' },
    only: { type: 'string', default: '' },
    log: { type: 'string', default: 'postgres' },
  },
});

const SIMULATION_EFFORT = { seedsMax: 2_000, statesMax: 200_000 };

async function tryEventPath(log: LogKind): Promise<MutationTally> {
  const engines = await startFaultEngines([log]);
  try {
    return await tryMutations(createEventPathTrial({ engines, log }), values.only);
  } finally {
    await engines.close();
  }
}

const TRIALS: ReadonlyMap<string, () => Promise<MutationTally>> = new Map([
  ['event-path', () => tryEventPath(values.log === 'kafka' ? 'kafka' : 'postgres')],
  ['simulation', () => tryMutations(createSimulationTrial(SIMULATION_EFFORT), values.only)],
  ['pricing', () => tryMutations(createPricingTrial(), values.only)],
]);

let isComplete = true;
for (const name of values.of.split(',')) {
  const trial = TRIALS.get(name);
  if (trial === undefined) throw new Error(`--of is one of ${[...TRIALS.keys()].join(', ')}`);
  console.log(`mutations of ${name}`);
  const { missed, broken } = await trial();
  isComplete &&= missed + broken === 0;
}
// The client of a broker that was killed can keep the process alive after it was closed.
process.exit(isComplete ? 0 : 1);
