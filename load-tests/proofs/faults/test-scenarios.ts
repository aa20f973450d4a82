import PQueue from 'p-queue';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../../runtime/project.js';
import { drawSeed } from '../../harness/draw-seed.js';
import type { FaultEngines, LogKind } from './engines/fault-engines.js';
import { randomRun } from './random/random-run.js';
import { lineOfRun } from './report.js';
import { SCENARIOS } from './scenarios/all-scenarios.js';
import { playScenario, type Scenario } from './scenarios/scenario.js';

// The short form of the fault suite as tests, in files that run beside each other: each has engines
// of its own. `npm run faults` plays the long form.

const SETTLE_TIMEOUT_MS = 120_000;
/** Each is four processes: more at a time than this only wait for each other. */
const BESIDE_EACH_OTHER = 2;
/** On each log; `npm run nightly` plays a hundred. */
const RANDOM_RUNS = 1;
const RANDOM_EVENTS_MIN = 500;

export type Ground = { readonly engines: FaultEngines; readonly log: LogKind };

/** Why no test of the log can run here; null when they can. */
function missing({ engines, log }: Ground): string | null {
  return log === 'kafka' ? engines.kafka.skipReason : null;
}

function play(ground: Ground, scenario: Scenario): () => Promise<void> {
  return async () => {
    const bench = { ...ground, buildRoot: projectRoot, isLong: false };
    const verdict = await playScenario(scenario, { ...bench, settleTimeoutMs: SETTLE_TIMEOUT_MS });
    expect(verdict.problems).toEqual([]);
    expect(verdict.counts.accepted).toBeGreaterThan(0);
  };
}

/** One test a scenario, one after the other; those that a machine cannot play are skipped. */
export function testScenarios(ground: Ground, isWanted: (scenario: Scenario) => boolean): void {
  const bench = { ...ground, buildRoot: projectRoot, isLong: false, settleTimeoutMs: 0 };
  for (const scenario of SCENARIOS.filter(isWanted)) {
    const skipReason = missing(ground) ?? scenario.skipReason?.(bench) ?? null;
    const name = skipReason === null ? scenario.name : `${scenario.name} (skipped: ${skipReason})`;
    test.skipIf(skipReason !== null)(name, play(ground, scenario));
  }
}

/**
 * Scenarios that leave engines alone, beside each other: on the log in PostgreSQL a world is a
 * database, so that several stand on one server.
 */
export function testScenariosBeside(
  ground: Ground,
  isWanted: (scenario: Scenario) => boolean,
): void {
  const stage = new PQueue({ concurrency: BESIDE_EACH_OTHER });
  describe.concurrent('beside each other', () => {
    for (const scenario of SCENARIOS.filter(isWanted)) {
      test(scenario.name, async () => {
        await stage.add(play(ground, scenario));
      });
    }
  });
}

/** Random runs of fresh seeds; the seed stands in the name of the test and replays the plan. */
export function testRandomRuns(ground: Ground): void {
  const skipReason = missing(ground);
  const firstSeed = drawSeed();
  for (let seed = firstSeed; seed < firstSeed + RANDOM_RUNS; seed += 1) {
    const reason = skipReason === null ? '' : ` (skipped: ${skipReason})`;
    test.skipIf(skipReason !== null)(
      `loses and doubles nothing under random faults, seed ${seed}${reason}`,
      async () => {
        const options = { ...ground, buildRoot: projectRoot, seed };
        const report = await randomRun({ ...options, settleTimeoutMs: SETTLE_TIMEOUT_MS });
        console.log(lineOfRun(report));
        expect(report.verdict.problems, `see ${report.evidence ?? 'nothing'}`).toEqual([]);
        expect(report.verdict.counts.accepted).toBeGreaterThan(RANDOM_EVENTS_MIN);
      },
    );
  }
}
