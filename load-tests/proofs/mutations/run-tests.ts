import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { builtModule, projectRoot } from '../../../runtime/project.js';
import type { TestFindings } from './findings-reporter.js';
import type { MutationOutcome } from './mutation.js';

/** Tests of one project of the configuration whose path holds a text. */
export type TestSelection = {
  readonly project: 'fast' | 'engines';
  readonly paths: string;
  /** Whether the first failure ends the run: where each waits for what does not come. */
  readonly isOneEnough?: boolean;
};

/** Runs tests in a copy of the sources. @throws Error when they could not be run. */
export async function runTests(
  root: string,
  { project, paths, isOneEnough = false }: TestSelection,
): Promise<TestFindings> {
  const output = join(root, 'findings.json');
  rmSync(output, { force: true });
  const child = spawn(
    process.execPath,
    [
      join(projectRoot, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      '.config/vitest.config.ts',
      '--project',
      project,
      '--no-isolate',
      '--passWithNoTests',
      paths,
      '--bail',
      isOneEnough ? '1' : '0',
      '--reporter',
      builtModule('load-tests/proofs/mutations/findings-reporter'),
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
export function outcomeOf({ loadErrors, failures }: TestFindings): MutationOutcome {
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

/** Why tests say nothing about a mutation: null when all pass without it, and there are any. */
export function problemOf({ passed, failures, loadErrors }: TestFindings): string | null {
  if (passed === 0) return 'no test ran';
  const [problem] = [...loadErrors, ...failures.map(({ test }) => test)];
  return problem ?? null;
}
