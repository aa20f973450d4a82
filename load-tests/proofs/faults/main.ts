import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { projectRoot } from '../../../runtime/project.js';
import { drawSeed } from '../../harness/draw-seed.js';
import { startFaultEngines, type FaultEngines, type LogKind } from './engines/fault-engines.js';
import { randomRun } from './random/random-run.js';
import { lineOfRun, lineOfScenario, Tally } from './report.js';
import { playScenario } from './scenarios/scenario.js';
import { SCENARIOS } from './scenarios/all-scenarios.js';

/**
 * `npm run faults -- [--runs 100] [--log postgres|kafka|both] [--seed N]`: all scenarios, then
 * random runs, each with a seed that replays its plan of load and faults; with `--seed` the runs
 * alone. Ends with the line `N runs, 0 lost, 0 double` for each log, and with status 1 when
 * anything else came out. `--scenarios` tells the named scenarios alone; `--only TEXT` keeps those
 * whose name holds the text. `--brokers 3` plays random runs on Kafka with as many brokers, of
 * which at most one is away at a time.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    log: { type: 'string' },
    seed: { type: 'string' },
    scenarios: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    brokers: { type: 'string', default: '1' },
  },
});

const brokerCount = Number(values.brokers);
const SETTLE_TIMEOUT_MS = 120_000;

type Ground = { readonly engines: FaultEngines; readonly log: LogKind };

function logsWanted(): readonly LogKind[] {
  // Scenarios and the log in PostgreSQL are about one broker or none.
  const wanted = values.log ?? (brokerCount > 1 ? 'kafka' : 'both');
  if (wanted === 'both') return ['postgres', 'kafka'];
  if (wanted === 'postgres' || wanted === 'kafka') return [wanted];
  throw new Error('--log is postgres, kafka or both');
}

function isWanted({ name }: { readonly name: string }): boolean {
  return name.includes(values.only);
}

function showProblems(problems: readonly string[]): void {
  for (const problem of problems) console.log(pc.red(`    ${problem}`));
}

async function playScenarios(ground: Ground, tally: Tally): Promise<void> {
  const bench = { ...ground, buildRoot: projectRoot, settleTimeoutMs: SETTLE_TIMEOUT_MS };
  for (const scenario of SCENARIOS.filter(isWanted)) {
    const skipReason = scenario.skipReason?.({ ...bench, isLong: true }) ?? null;
    if (skipReason !== null) {
      console.log(pc.yellow(`${ground.log} · skipped: ${scenario.name} (${skipReason})`));
      continue;
    }
    const startedAt = performance.now();
    const verdict = await playScenario(scenario, { ...bench, isLong: true });
    tally.add(verdict);
    const seconds = (performance.now() - startedAt) / 1000;
    console.log(`${ground.log} · ${lineOfScenario(scenario.name, verdict, seconds)}`);
    showProblems(verdict.problems);
  }
}

async function runAtRandom(ground: Ground, tally: Tally, firstSeed: number): Promise<void> {
  const runs = Number(values.runs);
  for (let run = 0; run < runs; run += 1) {
    const report = await randomRun({
      ...ground,
      buildRoot: projectRoot,
      seed: firstSeed + run,
      settleTimeoutMs: SETTLE_TIMEOUT_MS,
    });
    tally.add(report.verdict);
    console.log(`[${run + 1}/${runs}] ${lineOfRun(report)}`);
    showProblems(report.verdict.problems);
    if (report.evidence !== null) console.log(pc.red(`    ${report.evidence}`));
  }
}

async function runOn(
  ground: Ground,
): Promise<{ readonly isRight: boolean; readonly line: string }> {
  const scenarios = new Tally('scenarios', ground.log);
  const tally = new Tally('runs', ground.log);
  const isPlayed = values.seed === undefined && brokerCount === 1;
  if (isPlayed || values.scenarios) await playScenarios(ground, scenarios);
  if (!values.scenarios) {
    const firstSeed = Number(values.seed ?? drawSeed());
    await runAtRandom(ground, tally, firstSeed);
  }
  const lines = [scenarios, tally].filter(({ count }) => count > 0).map(({ line }) => line);
  return { isRight: scenarios.wrong + tally.wrong === 0, line: lines.join('\n') };
}

async function run(): Promise<boolean> {
  const logs = logsWanted();
  const engines = await startFaultEngines(logs, brokerCount);
  if (engines.disk.disk === null) console.log(`no full disks: ${engines.disk.skipReason}`);
  const results: Awaited<ReturnType<typeof runOn>>[] = [];
  try {
    for (const log of logs) {
      if (log === 'kafka' && engines.kafka.broker === null) {
        console.log(pc.yellow(`Kafka skipped: ${engines.kafka.skipReason}`));
      } else results.push(await runOn({ engines, log }));
    }
  } finally {
    await engines.close();
  }
  for (const { line } of results) console.log(line);
  return results.every(({ isRight }) => isRight);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}
// The client of a broker that was killed can keep the process alive after it was closed.
process.exit((await run()) ? 0 : 1);
