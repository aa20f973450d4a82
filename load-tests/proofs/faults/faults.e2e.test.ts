import PQueue from 'p-queue';
import { afterAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../../runtime/project.js';
import { startFaultEngines } from './engines/fault-engines.js';
import { randomRun } from './random/random-run.js';
import { lineOfRun } from './report.js';
import { SCENARIOS } from './scenarios/all-scenarios.js';
import { playScenario, type Bench, type Scenario } from './scenarios/scenario.js';

const engines = await startFaultEngines(['postgres', 'kafka']);
afterAll(() => engines.close());

const RANDOM_RUNS = 2;
const SETTLE_TIMEOUT_MS = 120_000;
const firstSeed = Math.floor(Math.random() * 1_000_000);

function tell(scenario: Scenario, log: Bench['log']): () => Promise<void> {
  return async () => {
    const bench = { engines, log, buildRoot: projectRoot, isLong: false };
    const verdict = await playScenario(scenario, { ...bench, settleTimeoutMs: SETTLE_TIMEOUT_MS });
    expect(verdict.problems).toEqual([]);
    expect(verdict.counts.accepted).toBeGreaterThan(0);
  };
}

describe.each(['postgres', 'kafka'] as const)('the product on the %s log', (log) => {
  const isMissing = log === 'kafka' && engines.kafka.broker === null;
  const because = isMissing ? ` (skipped: ${engines.kafka.skipReason ?? ''})` : '';
  const bench = { engines, log, buildRoot: projectRoot, isLong: false, settleTimeoutMs: 0 };
  const stories = SCENARIOS.filter(({ isAboutLog }) => log === 'postgres' || isAboutLog);
  // Worlds of the Postgres log are databases and stand side by side; Kafka has one topic.
  const isBeside = ({ isCalm }: Scenario): boolean => isCalm && log === 'postgres';

  const besides = stories.filter(isBeside);
  // A suite without a test is an error, and on Kafka no story stands beside another.
  if (besides.length > 0) {
    describe.concurrent('beside each other', () => {
      // Each is four processes: more at a time than this only wait for each other.
      const stage = new PQueue({ concurrency: 2 });
      for (const story of besides) {
        test(story.name, async () => {
          await stage.add(tell(story, log));
        });
      }
    });
  }

  for (const story of stories.filter((one) => !isBeside(one))) {
    const skipReason = isMissing ? because : (story.skipReason?.(bench) ?? null);
    const name = skipReason === null ? story.name : `${story.name} (skipped: ${skipReason})`;
    test.skipIf(skipReason !== null)(name, tell(story, log));
  }

  test.skipIf(isMissing)(
    `loses nothing and doubles nothing under random faults${because}`,
    async () => {
      for (let run = 0; run < RANDOM_RUNS; run += 1) {
        const report = await randomRun({
          engines,
          log,
          buildRoot: projectRoot,
          seed: firstSeed + run,
          settleTimeoutMs: SETTLE_TIMEOUT_MS,
        });
        console.log(lineOfRun(report));
        const hint = `seed ${report.seed}, see ${report.evidence ?? 'nothing'}`;
        expect(report.verdict.problems, hint).toEqual([]);
        expect(report.verdict.counts.accepted).toBeGreaterThan(500);
      }
    },
  );
});
