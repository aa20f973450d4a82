import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { drawSeed } from '../../harness/draw-seed.js';
import { describeAction } from './actions.js';
import { explore, type Failure } from './exhaustive.js';
import { walk, type Walk } from './random-walk.js';
import { createScenario, type Scenario } from './scenario.js';
import { shrink } from './shrink.js';
import { LARGER_WORLDS, SMALL_WORLDS } from './small-worlds.js';

type Flags = {
  readonly seconds: number;
  readonly seed?: number;
  readonly firstSeed?: number;
  readonly exhaustive?: boolean;
  readonly larger?: boolean;
};
/** Worlds that were tried, the actions in them, and how many went wrong. */
type Tally = { readonly worlds: number; readonly steps: number; readonly wrong: number };

const NOTHING: Tally = { worlds: 0, steps: 0, wrong: 0 };
/** The keys of this many states take about 2 GB of memory. */
const STATES_MAX = 8_000_000;
/** Worlds between two checks of the time. */
const ROUND = 20;

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('a whole number is needed');
}

function show(failure: Failure): void {
  console.log(`wrong: ${failure.wrong}, after ${failure.actions.length} actions`);
  failure.actions.forEach((action, index) => {
    console.log(`  ${String(index + 1).padStart(3)}  ${describeAction(action)}`);
  });
}

function showShrunk(scenario: Scenario, failure: Failure): void {
  console.log('shrinking …');
  show(shrink(scenario, failure));
  console.log(`in the world ${JSON.stringify(scenario.plan)}`);
}

function showWalk({ seed, scenario, failure }: Walk): void {
  if (failure === null) return;
  console.log(`\nseed ${seed}: ${failure.wrong}, after ${failure.actions.length} actions`);
  showShrunk(scenario, failure);
  console.log(`again: npm run simulate -- --seed ${seed}`);
}

function walkFor(seconds: number, firstSeed: number): Tally {
  console.log(`worlds from seed ${firstSeed} on`);
  const format = '{bar} {value}/{total} s  {worlds} worlds  {steps} steps';
  const bar = new SingleBar({ format, barsize: 30, hideCursor: true, noTTYOutput: true });
  bar.start(seconds, 0, { worlds: 0, steps: 0 });
  const startedAt = performance.now();
  let tally = NOTHING;
  let first: Walk | null = null;
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - startedAt) / 1000) {
    for (let round = 0; round < ROUND; round += 1) {
      const walked = walk(firstSeed + tally.worlds);
      const isWrong = walked.failure !== null;
      const { worlds, steps, wrong } = tally;
      tally = {
        worlds: worlds + 1,
        steps: steps + walked.steps,
        wrong: wrong + (isWrong ? 1 : 0),
      };
      if (isWrong) first ??= walked;
    }
    bar.update(Math.floor(elapsed), { worlds: tally.worlds, steps: tally.steps });
  }
  bar.stop();
  if (first !== null) showWalk(first);
  return tally;
}

function replay(seed: number): Tally {
  const walked = walk(seed);
  showWalk(walked);
  return { worlds: 1, steps: walked.steps, wrong: walked.failure === null ? 0 : 1 };
}

function exploreAll(isLarger: boolean): Tally {
  let tally = NOTHING;
  for (const { name, plan } of [...SMALL_WORLDS, ...(isLarger ? LARGER_WORLDS : [])]) {
    const scenario = createScenario(plan);
    const { states, steps, failure, isComplete } = explore(scenario, STATES_MAX);
    const isWrong = failure !== null || !isComplete;
    const verdict = failure !== null ? 'WRONG' : isComplete ? 'holds' : 'NOT COMPLETE';
    console.log(`${name}: ${states} states, ${steps} steps, ${verdict}`);
    if (failure !== null) show(failure);
    tally = {
      worlds: tally.worlds + 1,
      steps: tally.steps + steps,
      wrong: tally.wrong + (isWrong ? 1 : 0),
    };
  }
  return tally;
}

function runSimulateVerb(flags: Flags): void {
  const isExhaustive = flags.exhaustive === true || flags.larger === true;
  const tally = isExhaustive
    ? exploreAll(flags.larger === true)
    : flags.seed === undefined
      ? walkFor(flags.seconds, flags.firstSeed ?? drawSeed())
      : replay(flags.seed);
  if (tally.wrong > 0) process.exitCode = 1;
  console.log(`${tally.worlds} worlds, ${tally.steps} steps, ${tally.wrong} wrong`);
}

/** `npm run simulate`: the aggregator's protocol against simulated stores. */
await new Command('simulate')
  .description('look for an order of events that loses or doubles usage, in simulated worlds')
  .option('--seconds <n>', 'how long to try random worlds', wholeNumber, 60)
  .option('--first-seed <n>', 'where the random worlds begin; anywhere when absent', wholeNumber)
  .option('--seed <n>', 'replay one world, and shrink what is wrong with it', wholeNumber)
  .option('--exhaustive', 'every order of events in small worlds instead')
  .option('--larger', 'and in larger ones, which takes minutes')
  .action(runSimulateVerb)
  .parseAsync();
