import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** What a run of tests found. */
export type TestFindings = {
  readonly passed: number;
  /** Such as those on Kafka, where there is none. */
  readonly skipped: number;
  /** Files that could not be loaded, and errors outside of tests. */
  readonly loadErrors: readonly string[];
  readonly failures: readonly {
    /** `file: name` of the test. */
    readonly test: string;
    /** Whether an assertion failed, and not the code under test by itself. */
    readonly isAssertion: boolean;
    readonly message: string;
  }[];
};

type Thrown = { readonly name?: unknown; readonly cause?: unknown };

/**
 * Whether the error is a failed assertion, of a test or of the product itself. Property tests wrap
 * the assertion that failed as the cause.
 */
function isAssertion(error: unknown): boolean {
  for (let at: unknown = error; typeof at === 'object' && at !== null;) {
    const { name, cause } = at as Thrown;
    if (name === 'AssertionError' || name === 'AssertionFailed') return true;
    at = cause;
  }
  return false;
}

/** Writes what was found to the file that `MINUTEBOOK_FINDINGS` names, for a program to read. */
class FindingsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const loadErrors = errors.map(({ message }) => message);
    const failures: TestFindings['failures'][number][] = [];
    let passed = 0;
    let skipped = 0;
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      loadErrors.push(...module.errors().map(({ message }) => `${file}: ${message}`));
      for (const test of module.children.allTests()) {
        const { state, errors: thrown } = test.result();
        if (state === 'passed') passed += 1;
        if (state === 'skipped') skipped += 1;
        if (state !== 'failed') continue;
        failures.push({
          test: `${file}: ${test.fullName}`,
          isAssertion: thrown.some(isAssertion),
          message: thrown[0]?.message.split('\n', 1)[0] ?? '',
        });
      }
    }
    const findings: TestFindings = { passed, skipped, loadErrors, failures };
    writeFileSync(process.env['MINUTEBOOK_FINDINGS'] ?? 'findings.json', JSON.stringify(findings));
  }
}

// vitest takes a reporter by the default export of its file.
// eslint-disable-next-line no-restricted-exports
export default FindingsReporter;
