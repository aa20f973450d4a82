import { parseArgs } from 'node:util';
import { startFaultEngines, type LogKind } from '../faults/engines/fault-engines.js';
import { createEventPathTrial } from './event-path/event-path-trial.js';
import { createGuardTrial } from './guards/guard-trial.js';
import { createOracleTrial } from './oracles/oracle-trial.js';
import { createPricingTrial } from './pricing/pricing-trial.js';
import { createSimulationTrial } from './simulation/simulation-trial.js';
import { tryMutations, type MutationTally } from './try-mutations.js';

/**
 * `npm run mutations -- --of event-path|guards|simulation|pricing|oracles [--only TEXT]
 * [--log postgres|kafka] [--cases 1000]`: breaks one rule at a time and shows which named guard
 * notices. Ends with status 1 when a mutation was not caught, or when its mutant is broken and so
 * proves nothing; of the oracles, when they notice fewer than nine in ten.
 */
const { values } = parseArgs({
  options: {
    of: { type: 'string', default: 'event-path,guards,simulation,pricing,oracles' },
    only: { type: 'string', default: '' },
    log: { type: 'string', default: 'postgres' },
    cases: { type: 'string', default: '1000' },
  },
});

const SIMULATION_EFFORT = { seedsMax: 2_000, statesMax: 200_000 };

const isComplete = ({ missed, broken }: MutationTally): boolean => missed + broken === 0;

const ORACLE_SEED = 1;
const USAGE_CASES = 300;
/** What the oracles notice without a test beside them. */
const NOTICED_SHARE_MIN = 0.9;

async function tryOracles(): Promise<boolean> {
  const trial = createOracleTrial({
    firstSeed: ORACLE_SEED,
    pricingMax: Number(values.cases),
    usageMax: USAGE_CASES,
  });
  try {
    const { tried, missed, broken } = await tryMutations(trial, values.only);
    const noticed = tried - missed - broken;
    const share = noticed / tried;
    const percent = (share * 100).toFixed(1);
    console.log(`the oracles alone notice ${noticed} of ${tried} mutations: ${percent} %`);
    return share >= NOTICED_SHARE_MIN;
  } finally {
    trial.close();
  }
}

async function tryEventPath(log: LogKind): Promise<boolean> {
  const engines = await startFaultEngines([log]);
  try {
    return isComplete(await tryMutations(createEventPathTrial({ engines, log }), values.only));
  } finally {
    await engines.close();
  }
}

const SIMULATION = createSimulationTrial(SIMULATION_EFFORT);

/** Each tells whether enough was noticed. */
const TRIALS: ReadonlyMap<string, () => Promise<boolean>> = new Map([
  ['event-path', () => tryEventPath(values.log === 'kafka' ? 'kafka' : 'postgres')],
  ['guards', async () => isComplete(await tryMutations(createGuardTrial(), values.only))],
  ['simulation', async () => isComplete(await tryMutations(SIMULATION, values.only))],
  ['pricing', async () => isComplete(await tryMutations(createPricingTrial(), values.only))],
  ['oracles', tryOracles],
]);

let isEverythingNoticed = true;
for (const name of values.of.split(',')) {
  const trial = TRIALS.get(name);
  if (trial === undefined) throw new Error(`--of is one of ${[...TRIALS.keys()].join(', ')}`);
  console.log(`mutations of ${name}`);
  if (!(await trial())) isEverythingNoticed = false;
}
// The client of a broker that was killed can keep the process alive after it was closed.
process.exit(isEverythingNoticed ? 0 : 1);
