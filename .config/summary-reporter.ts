import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends the output with the plain line `N passed, N failed`, which programs can read. A file that
 * could not be loaded and an error outside of any test count as failures. A parent that listens, as
 * `npm test` does, is given the counts instead: it has findings to show before that line.
 */
export class SummaryReporter implements Reporter {
  async onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
  ): Promise<void> {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // Still pending when the run was cut short: what did not run did not pass.
        counts[state === 'pending' ? 'failed' : state] += 1;
      }
    }
    const send = process.send?.bind(process);
    if (send !== undefined) {
      await new Promise((resolve) => send(counts, undefined, undefined, resolve));
      return;
    }
    if (counts.skipped > 0) process.stdout.write(`${counts.skipped} skipped\n`);
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  }
}
