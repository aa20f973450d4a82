import { computeVerdict } from '../checks/compute-verdict.js';
import { startSampler } from '../checks/sample-usage.js';
import { settle } from '../checks/settle.js';
import { keepEvidence } from '../checks/keep-evidence.js';
import type { Verdict } from '../checks/verdict.js';
import type { FaultEngines, LogKind } from '../engines/fault-engines.js';
import { planLoad, SHORT_LOAD } from '../load/plan-load.js';
import { sendLoad } from '../load/send-load.js';
import { planMalformed, writeMalformed } from '../load/write-malformed.js';
import { createSeededRandom, type SeededRandom } from '../../../harness/seeded-random.js';
import { Supervisor } from '../world/supervisor.js';
import { World } from '../world/world.js';
import { inflict, restoreEngines } from './inflict.js';
import { nameOfFault, planFaults, type Fault } from './plan-faults.js';

export type RunOptions = {
  readonly engines: FaultEngines;
  readonly log: LogKind;
  readonly buildRoot: string;
  readonly seed: number;
  readonly settleTimeoutMs: number;
};

export type RunReport = {
  readonly seed: number;
  readonly log: LogKind;
  readonly faults: readonly string[];
  readonly aggregators: number;
  readonly unknownOutcomes: number;
  readonly samples: number;
  readonly seconds: number;
  readonly verdict: Verdict;
  /** Whether the log was read to its end in time. Otherwise what is missing may only be late. */
  readonly isSettled: boolean;
  /** File with what the programs said, when something is wrong. */
  readonly evidence: string | null;
};

async function makeWorld(options: RunOptions, random: SeededRandom): Promise<World> {
  const { engines, log, buildRoot } = options;
  return World.make({
    engines,
    log,
    buildRoot,
    partitions: random.pick([1, 4]),
    flushDelayMs: random.pick([20, 60, 200]),
    batchEventsMax: random.pick([25, 200, 50_000]),
  });
}

async function checkRun(
  world: World,
  supervisor: Supervisor,
  options: RunOptions,
): Promise<{ verdict: Verdict; unsettled: string | null }> {
  const [unsettled] = await Promise.all([
    settle(world, options.settleTimeoutMs),
    world.startBillingApi(),
  ]);
  await supervisor.stop();
  return { verdict: await computeVerdict(world), unsettled };
}

async function performRun(
  world: World,
  options: RunOptions,
  plan: { readonly random: SeededRandom; readonly faults: readonly Fault[] },
): Promise<Omit<RunReport, 'seed' | 'log' | 'faults' | 'seconds'>> {
  const { random, faults } = plan;
  const requests = planLoad(random, SHORT_LOAD);
  const aggregators = random.between(1, 3);
  const { lastsMs } = SHORT_LOAD;
  const malformed = planMalformed(random, { lastsMs, partitions: world.options.partitions });
  const supervisor = new Supervisor(world);
  try {
    await supervisor.start(aggregators);
    const sampler = startSampler(world);
    await Promise.all([
      sendLoad(world.ingestTarget, world.ledger, requests),
      writeMalformed(world, malformed),
      inflict(world, supervisor, faults),
    ]);
    await restoreEngines(world);
    const { verdict, unsettled } = await checkRun(world, supervisor, options);
    const seen = await sampler.stop();
    const problems = [...(unsettled === null ? [] : [unsettled]), ...verdict.problems];
    problems.push(...seen.problems);
    return {
      aggregators,
      unknownOutcomes: world.ledger.unknownOutcomes,
      samples: seen.samples,
      verdict: { ...verdict, problems },
      isSettled: unsettled === null,
      evidence:
        problems.length === 0 ? null : await keepEvidence(world, `${options.log}-${options.seed}`),
    };
  } finally {
    await supervisor.stop();
  }
}

/** One run: everything in it follows from the seed, but for the timing of the machine. */
export async function randomRun(options: RunOptions): Promise<RunReport> {
  const { seed, log } = options;
  const startedAt = performance.now();
  const random = createSeededRandom(seed);
  const brokers = options.engines.kafka.cluster?.engines.length ?? 0;
  const faults = planFaults(random, { log, brokers }, SHORT_LOAD.lastsMs);
  const world = await makeWorld(options, random);
  try {
    const result = await performRun(world, options, { random, faults });
    const seconds = (performance.now() - startedAt) / 1000;
    return { seed, log, faults: faults.map(nameOfFault), seconds, ...result };
  } finally {
    await restoreEngines(world);
    await world.close();
  }
}
