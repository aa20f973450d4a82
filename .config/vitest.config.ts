import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './summary-reporter.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const ENGINE_TESTS = ['**/*.db.test.ts', '**/*.http.test.ts'];
const END_TO_END_TESTS = ['**/*.e2e.test.ts'];
const ELSEWHERE = ['**/node_modules/**', '**/dist/**'];
const globalSetup = [`${root}load-tests/harness/global-setup.ts`];

/** Three kinds of tests by file name; each kind is a project and can be run alone. */
export default defineConfig({
  root,
  test: {
    root,
    reporters: ['default', new SummaryReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['**/*.test.ts'],
          exclude: [...ELSEWHERE, ...ENGINE_TESTS, ...END_TO_END_TESTS],
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: ENGINE_TESTS,
          exclude: ELSEWHERE,
          globalSetup,
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // Every file has databases of its own; more workers than this only wait for the disk.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: END_TO_END_TESTS,
          exclude: ELSEWHERE,
          globalSetup,
          testTimeout: 600_000,
          hookTimeout: 300_000,
          // One at a time: each starts and kills whole products.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          fileParallelism: false,
        },
      },
    ],
  },
});
