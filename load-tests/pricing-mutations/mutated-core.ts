import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { projectRoot } from '../../runtime/project.js';
import { applyEdit } from '../faults/mutations/mutated-build.js';
import type { PricingMutation } from './mutation.js';

const CORE = 'billing-api/domain';
const COPIED = [CORE, 'contract', '.config', 'package.json', 'tsconfig.json'];

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

/** Runs the tests of a folder of the core in a copy of it. */
async function runTests(root: string, folder: string): Promise<Verdict> {
  const output = join(root, 'report.json');
  const child = spawn(
    process.execPath,
    [
      join(projectRoot, 'node_modules/vitest/vitest.mjs'),
      ...['run', '--config', '.config/vitest.config.ts', '--project', 'fast', '--no-isolate'],
      ...['--reporter', 'json', '--outputFile', output, folder],
    ],
    { cwd: root, stdio: 'ignore' },
  );
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (!existsSync(output)) throw new Error('the tests could not be run');
  return verdictOf(JSON.parse(readFileSync(output, 'utf8')) as Report, root);
}

/** The tests beside a mutation say soonest what is wrong; all others follow where they do not. */
async function runNearest(root: string, { edit }: PricingMutation): Promise<Verdict> {
  const nearest = await runTests(root, `${dirname(edit.path)}/`);
  return nearest.failed.length > 0 ? nearest : runTests(root, `${CORE}/`);
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
