import { dirname } from 'node:path';
import type { TestFindings } from '../findings-reporter.js';
import { inMutatedCopy } from '../mutated-copy.js';
import type { Edit, MutationOutcome, MutationTrial } from '../mutation.js';
import { outcomeOf, problemOf, runTests as runTestsIn } from '../run-tests.js';
import { PRICING_MUTATIONS } from './all-mutations.js';
import type { PricingMutation } from './pricing-mutation.js';

const CORE = 'billing-api/domain';
/** What the tests of the core are made of. */
const COPIED = [
  CORE,
  'billing-api/testing',
  'contract',
  'runtime/failure.ts',
  // Life cycles are compared with the tables and the events of the docs.
  'runtime/project.ts',
  'docs/rules',
  'docs/http.md',
  // The configuration of the tests names files of the harness.
  '.config',
  'load-tests/harness',
  'package.json',
  'tsconfig.json',
];

const runTests = (root: string, paths: string): Promise<TestFindings> =>
  runTestsIn(root, { project: 'fast', paths });

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

const inCopy = <T>(edits: readonly Edit[], work: (root: string) => Promise<T>): Promise<T> =>
  inMutatedCopy(COPIED, edits, work);

/** What the tests of the core say of it as it is: null when all pass, and there are any. */
async function control(): Promise<string | null> {
  return problemOf(await inCopy([], (root) => runTests(root, `${CORE}/`)));
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
