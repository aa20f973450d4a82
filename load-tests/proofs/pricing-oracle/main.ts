import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { drawSeed } from '../../harness/draw-seed.js';
import { runAgreement } from './agreement/agreement-run.js';

/**
 * `npm run pricing:check -- [--runs 1000] [--seed S]`: prices random subscriptions twice, with the
 * product's core and with the oracle. `--seed S --runs 1` repeats the case of a difference. Ends
 * with 1 when the two do not agree.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string' } },
});
/** Of a case more would only repeat what the first ones say. */
const TEXTS_PER_CASE_MAX = 8;

const firstSeed = values.seed === undefined ? drawSeed() : Number(values.seed);
const casesMax = Number(values.runs);
console.log(`seeds from ${firstSeed} on`);
const progress = new SingleBar({ format: '[{bar}] {value}/{total} cases, {duration_formatted}' });
progress.start(casesMax, 0);
const found: string[] = [];
const run = runAgreement({
  firstSeed,
  casesMax,
  onCase: (done) => {
    progress.update(done);
  },
  onDifference: (texts) => {
    found.push(...texts.slice(0, TEXTS_PER_CASE_MAX));
  },
});
progress.stop();
for (const text of found) console.log(text);
console.log(`${run.invoices} invoices, ${run.lines} lines`);
console.log(`${run.agreed} agreed, ${run.differed} differed`);
if (run.differed > 0) process.exitCode = 1;
