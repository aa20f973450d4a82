import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import PQueue from 'p-queue';
import pc from 'picocolors';
import { tableLines } from '../../../cli/look/tables.js';
import { drawSeed } from '../../harness/draw-seed.js';
import { nightlyParts, type NightlyPart } from './parts.js';

/**
 * `npm run nightly -- [--runs 100] [--only faults,pricing] [--seed N] [--pricing N] [--oracle N]`
 * `[--fuzz N] [--seconds N] [--mutations TEXT]`: the long proofs, each a program of its own, two at
 * a time.
 * `--only` keeps the parts whose name begins with one of the words. A part that fails does not
 * keep the others from running; the table at the end says what each did, with which seed and for
 * how long, and the status is 1 when one of them found something.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    pricing: { type: 'string', default: '10000' },
    oracle: { type: 'string', default: '100' },
    fuzz: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '600' },
    mutations: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    seed: { type: 'string' },
  },
});

/** A proof with engines waits half of the time, and one without them fills a core. */
const AT_A_TIME = 2;

type Result = {
  readonly part: NightlyPart;
  readonly isRight: boolean;
  readonly seconds: number;
};

/** Runs a part; each line of its output goes to our output, with its name in front. */
async function run(part: NightlyPart): Promise<Result> {
  console.log(pc.bold(`=== ${part.name}: ${part.what}`));
  const startedAt = performance.now();
  const child = spawn(process.execPath, part.parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      console.log(`${pc.dim(part.name)} ${line}`);
    });
  }
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      console.log(error.message);
      resolve(null);
    });
    child.once('close', resolve);
  });
  return { part, isRight: status === 0, seconds: (performance.now() - startedAt) / 1000 };
}

const seed = values.seed === undefined ? drawSeed() : Number(values.seed);
const sizes = {
  runs: Number(values.runs),
  pricingCases: Number(values.pricing),
  oracleCases: Number(values.oracle),
  fuzzCalls: Number(values.fuzz),
  simulatedSeconds: Number(values.seconds),
  only: values.mutations,
};
const words = values.only.split(',');
const wanted = nightlyParts(sizes, seed).filter(({ name }) =>
  words.some((word) => name.startsWith(word)),
);
if (wanted.length === 0) {
  const names = nightlyParts(sizes, seed).map(({ name }) => name);
  throw new Error(`--only takes beginnings of ${names.join(', ')}`);
}

const queue = new PQueue({ concurrency: AT_A_TIME });
const results = await queue.addAll(wanted.map((part) => () => run(part)));
const rows = results.map(({ part, isRight, seconds }) => [
  part.name,
  part.what,
  String(seed),
  `${seconds.toFixed(0)} s`,
  isRight ? 'holds' : 'FINDINGS',
]);
console.log('');
for (const line of tableLines(['part', 'what', 'seed', 'took', 'verdict'], rows)) {
  console.log(line);
}
const wrong = results.filter(({ isRight }) => !isRight).length;
console.log(`${results.length - wrong} passed, ${wrong} failed`);
process.exitCode = wrong === 0 ? 0 : 1;
