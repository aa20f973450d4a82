import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from '../../../../runtime/project.js';
import { applyEdit } from '../mutated-build.js';
import type { PricingMutation } from './mutation.js';

const CORE = 'billing-api/domain';
const COPIED = [
  ...[CORE, 'billing-api/testing', 'contract'],
  ...['.config', 'package.json', 'tsconfig.json'],
];

/** The part of vitest's JSON report that is read. */
type Report = {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
};

/** What the tests of the core said. */
export type Verdict = {
  readonly passedCount: number;
  /** `file: test` of every test that failed, and files that could not be run. */
  readonly failed: readonly string[];
};

function verdictOf(report: Report, root: string): Verdict {
  const failed = report.testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(join(root, CORE), name);
    const red = assertionResults.filter(({ status }) => status === 'failed');
    if (red.length > 0) return red.map(({ fullName }) => `${file}: ${fullName}`);
    return message === '' ? [] : [`${file}: ${message.split('\n', 1)[0] ?? ''}`];
  });
  return { passedCount: report.numPassedTests, failed };
}

const NO_TESTS: Verdict = { passedCount: 0, failed: [] };

/** Runs the tests whose path holds a text, in a copy of the core. */
async function runTests(root: string, paths: string): Promise<Verdict> {
  const output = join(root, 'report.json');
  rmSync(output, { force: true });
  const child = spawn(
    process.execPath,
    [
      join(projectRoot, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--config', '.config/vitest.config.ts', '--project', 'fast', '--no-isolate'],
      ...['--passWithNoTests', '--reporter', 'json', '--outputFile', output, paths],
    ],
    { cwd: root, stdio: 'ignore' },
  );
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (existsSync(output))
    return verdictOf(JSON.parse(readFileSync(output, 'utf8')) as Report, root);
  if (status !== 0) throw new Error(`the tests of ${paths} could not be run`);
  return NO_TESTS;
}

/**
 * The tests of the broken file say soonest what is wrong, then those beside it; all others are
 * asked where they do not notice.
 */
async function runNearest(root: string, { edit: { path } }: PricingMutation): Promise<Verdict> {
  for (const paths of [path.replace(/\.ts$/, '.test.ts'), `${dirname(path)}/`]) {
    const verdict = await runTests(root, paths);
    if (verdict.failed.length > 0) return verdict;
  }
  return runTests(root, `${CORE}/`);
}

/**
 * Copies the sources of the core, edits the copy and runs its tests there; null leaves it as it is.
 * @throws Error when the fragment of the mutation is not there exactly once.
 */
export async function testMutated(mutation: PricingMutation | null): Promise<Verdict> {
  const root = mkdtempSync(join(tmpdir(), 'minutebook-pricing-'));
  try {
    for (const path of COPIED) {
      cpSync(join(projectRoot, path), join(root, path), { recursive: true });
    }
    symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
    if (mutation === null) return await runTests(root, `${CORE}/`);
    applyEdit(root, mutation.edit);
    return await runNearest(root, mutation);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
