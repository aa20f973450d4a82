import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { drawSeed } from '../../harness/draw-seed.js';
import { runAgreement } from './agreement/agreement-run.js';
import { startProduct } from './agreement/product.js';

/**
 * `npm run oracle -- [--runs 100] [--seed S]`: random cases against a product of its own, compared
 * with the oracle. `--seed S --runs 1` repeats the case of a disagreement. Ends with 1 when the two
 * do not agree.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '100' }, seed: { type: 'string' } },
});
const firstSeed = values.seed === undefined ? drawSeed() : Number(values.seed);
const casesMax = Number(values.runs);
console.log(`seeds from ${firstSeed} on`);
const progress = new SingleBar({ format: '[{bar}] {value}/{total} cases, {duration_formatted}' });
const product = await startProduct();
try {
  progress.start(casesMax, 0);
  const onCase = (done: number): void => {
    progress.update(done);
  };
  const options = { firstSeed, casesMax, forMs: Infinity, onCase };
  const run = await runAgreement(product, options).finally(() => {
    progress.stop();
  });
  for (const disagreement of run.disagreements) console.log(disagreement);
  console.log(
    `${run.cases} cases, ${run.questions} questions, ${run.results} windows and groups: ` +
      `${run.disagreements.length} disagreements`,
  );
  if (run.disagreements.length > 0) process.exitCode = 1;
} finally {
  await product.close();
}
