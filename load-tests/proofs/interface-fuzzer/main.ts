import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { drawSeed } from '../../harness/draw-seed.js';
import { startTestStack } from '../../harness/test-stack.js';
import { runFuzzer } from './fuzz-run.js';

/**
 * `npm run fuzz -- [--calls 20000] [--seed S] [--refusals FILE]`: random calls against a product
 * of its own. Ends with 1 when an answer is a failure, breaks the OpenAPI document or holds
 * something of another environment. The file gets what answers 400 said, to be read by a person.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    refusals: { type: 'string' },
  },
});
const seed = values.seed === undefined ? drawSeed() : Number(values.seed);
const calls = Number(values.calls);
console.log(`seed ${seed}`);
const progress = new SingleBar({ format: '[{bar}] {value}/{total} calls, {duration_formatted}' });
const { stack, close } = await startTestStack({ MINUTEBOOK_LOG_LEVEL: 'error' });
try {
  progress.start(calls, 0);
  const onCall = (): void => {
    progress.increment();
  };
  const run = await runFuzzer(stack, { seed, calls, onCall }).finally(() => {
    progress.stop();
  });
  for (const finding of run.findings) console.log(finding);
  if (values.refusals !== undefined) await writeFile(values.refusals, run.refusals.join('\n'));
  const statuses = [...run.statuses].sort(([left], [right]) => left - right);
  console.log(statuses.map(([status, count]) => `${status}: ${count}`).join(', '));
  const never = [...run.called].filter((id) => !run.succeeded.has(id));
  if (never.length > 0) console.log(`never answered with a success: ${never.join(', ')}`);
  console.log(`seed ${seed}: ${calls} calls, ${run.findings.length} findings`);
  if (run.findings.length > 0) process.exitCode = 1;
} finally {
  await close();
}
