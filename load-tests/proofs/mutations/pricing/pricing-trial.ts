import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtModule, projectRoot } from '../../../../runtime/project.js';
import type { TestFindings } from '../findings-reporter.js';
import { makeMutatedCopy } from '../mutated-copy.js';
import type { Edit, MutationOutcome, MutationTrial } from '../mutation.js';
import { PRICING_MUTATIONS } from './all-mutations.js';
import type { PricingMutation } from './pricing-mutation.js';

const CORE = 'billing-api/domain';
/** What the tests of the core are made of. */
const COPIED = [
  ...[CORE, 'billing-api/testing', 'contract'],
  // The configuration of the tests names files of the harness.
  ...['.config', 'load-tests/harness', 'package.json', 'tsconfig.json'],
];

/** Runs the tests whose path holds a text, in a copy of the core. */
async function runTests(root: string, paths: string): Promise<TestFindings> {
  const output = join(root, 'findings.json');
  rmSync(output, { force: true });
  const child = spawn(
    process.execPath,
    [
      join(projectRoot, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--config', '.config/vitest.config.ts', '--project', 'fast', '--no-isolate'],
      ...['--passWithNoTests', paths],
      ...['--reporter', builtModule('load-tests/proofs/mutations/findings-reporter')],
    ],
    { cwd: root, stdio: 'ignore', env: { ...process.env, MINUTEBOOK_FINDINGS: output } },
  );
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (!existsSync(output)) throw new Error(`the tests of ${paths} could not be run`);
  return JSON.parse(readFileSync(output, 'utf8')) as TestFindings;
}

/**
 * A failed assertion of a named test, in files that all load. A test that ends with another error
 * shows that the copy is broken, unless an assertion notices, too.
 */
function outcomeOf({ loadErrors, failures }: TestFindings): MutationOutcome {
  const [loadError] = loadErrors;
  if (loadError !== undefined) return { kind: 'broken', why: loadError };
  const asserted = failures.filter(({ isAssertion }) => isAssertion);
  const [first] = asserted;
  if (first !== undefined) {
    const others = asserted.length > 1 ? ` and ${asserted.length - 1} more` : '';
    return { kind: 'caught', finding: `${first.test}${others}` };
  }
  const [error] = failures;
  if (error === undefined) return { kind: 'missed' };
  return { kind: 'broken', why: `no assertion failed, but ${error.test}: ${error.message}` };
}

/**
 * The tests of the broken file say soonest what is wrong, then those beside it; all others are
 * asked where they do not notice.
 */
async function runNearest(root: string, file: string): Promise<MutationOutcome> {
  const path = `${CORE}/${file}`;
  for (const paths of [path.replace(/\.ts$/, '.test.ts'), `${dirname(path)}/`]) {
    const outcome = outcomeOf(await runTests(root, paths));
    if (outcome.kind !== 'missed') return outcome;
  }
  return outcomeOf(await runTests(root, `${CORE}/`));
}

async function inCopy<T>(edits: readonly Edit[], work: (root: string) => Promise<T>): Promise<T> {
  const copy = makeMutatedCopy(COPIED, edits);
  try {
    return await work(copy.root);
  } finally {
    copy.remove();
  }
}

/** What the tests of the core say of it as it is: null when all pass, and there are any. */
async function control(): Promise<string | null> {
  const found = await inCopy([], (root) => runTests(root, `${CORE}/`));
  const { passed, failures, loadErrors } = found;
  if (passed === 0) return 'no test ran';
  const [problem] = [...loadErrors, ...failures.map(({ test }) => test)];
  return problem ?? null;
}

/** Mutations of the pricing core, tried against its own fast tests in a copy of its sources. */
export function createPricingTrial(): MutationTrial<PricingMutation> {
  let known: Promise<string | null> | null = null;
  return {
    mutations: PRICING_MUTATIONS,
    control: () => (known ??= control()),
    run: ({ edits, file }) => inCopy(edits, (root) => runNearest(root, file)),
  };
}
