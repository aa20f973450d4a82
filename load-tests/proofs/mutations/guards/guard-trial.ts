import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_STAMP } from '../../../harness/build.js';
import { projectRoot } from '../../../../runtime/project.js';
import type { TestFindings } from '../findings-reporter.js';
import { inMutatedCopy } from '../mutated-copy.js';
import type { Edit, MutationOutcome, MutationTrial } from '../mutation.js';
import { outcomeOf, problemOf, runTests, type TestSelection } from '../run-tests.js';
import type { GuardMutation } from './guard-mutation.js';
import { LOG_MUTATIONS } from './log-mutations.js';
import { OWNER_MUTATIONS } from './owner-mutations.js';
import { STORE_MUTATIONS } from './store-mutations.js';

export const GUARD_MUTATIONS: readonly GuardMutation[] = [
  ...OWNER_MUTATIONS,
  ...STORE_MUTATIONS,
  ...LOG_MUTATIONS,
];

/** The programs of the event path, and what their tests are made of. */
const SOURCES = [
  'aggregator',
  'clickhouse',
  'contract',
  'event-log',
  'ingest',
  'runtime',
  'sql',
  'billing-api',
  'cli',
  'load-tests/harness',
  'load-tests/proofs',
  '.config',
  'package.json',
  'tsconfig.json',
];

const NEEDS_ENGINES = /\.(db|http)\.test\.ts$/;

/** @throws Error when the file does not exist any more. */
export function testsOf({ name, test }: GuardMutation): TestSelection {
  if (!existsSync(join(projectRoot, test))) throw new Error(`${name}: there is no ${test}`);
  const project = NEEDS_ENGINES.test(test) ? 'engines' : 'fast';
  return { project, paths: test, isOneEnough: true };
}

/**
 * Runs the tests of a mutation in a copy of the sources. The processes that host engines run from a
 * copy of the build, which no mutation changes.
 */
function runIn(mutation: GuardMutation, edits: readonly Edit[]): Promise<TestFindings> {
  const selection = testsOf(mutation);
  const isBuilt = selection.project === 'engines';
  return inMutatedCopy([...SOURCES, ...(isBuilt ? ['dist'] : [])], edits, (root) => {
    // Else the edited sources would be compiled first, which takes longer than the tests.
    if (isBuilt) writeFileSync(join(root, BUILD_STAMP), '');
    return runTests(root, selection);
  });
}

/** Tests that did not run cannot notice: migrations of the copy failed, or there is no Kafka. */
function outcomeOfRun(found: TestFindings): MutationOutcome {
  const { passed, skipped, failures, loadErrors } = found;
  if (passed + failures.length + loadErrors.length === 0) {
    return { kind: 'broken', why: 'no test ran' };
  }
  const outcome = outcomeOf(found);
  if (outcome.kind !== 'missed' || skipped === 0) return outcome;
  return { kind: 'broken', why: `${skipped} tests were skipped, and no other notices` };
}

/** Mutations of guards, each tried against the one file of tests that must notice. */
export function createGuardTrial(): MutationTrial<GuardMutation> {
  const controls = new Map<string, Promise<string | null>>();
  return {
    mutations: GUARD_MUTATIONS,
    control: (mutation) => {
      const known = controls.get(mutation.test) ?? runIn(mutation, []).then(problemOf);
      controls.set(mutation.test, known);
      return known;
    },
    run: async (mutation) => outcomeOfRun(await runIn(mutation, mutation.edits)),
  };
}
