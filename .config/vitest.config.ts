import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import '../load-tests/harness/provided-context.js';
import { LongestFirst } from './longest-first.js';
import { SummaryReporter } from './summary-reporter.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const ENGINE_TESTS = ['**/*.db.test.ts', '**/*.http.test.ts'];
const END_TO_END_TESTS = ['**/*.e2e.test.ts'];
/** Tests without engines that are too long for `npm run check`: tens of seconds of one core. */
const LONG_PROOFS = [
  'load-tests/proofs/simulation/**/*.test.ts',
  'load-tests/proofs/pricing-oracle/agreement/*.test.ts',
];
/** What `npm test` has no time for: `npm run nightly` runs these with `--mode nightly`. */
const NIGHTLY_TESTS = ['**/*.nightly.test.ts'];
/** Whole products wait for engines half of the time; more than two would overload two cores. */
const PRODUCTS_AT_A_TIME = 2;
const ELSEWHERE = ['**/node_modules/**', '**/dist/**'];
const globalSetup = [`${root}load-tests/harness/global-setup.ts`];

/** Kinds of tests by file name; each kind is a project and can be run alone. */
const projectsOf = (isNightly: boolean): TestProjectInlineConfiguration[] => [
  {
    extends: true,
    test: {
      name: 'fast',
      include: ['**/*.test.ts'],
      exclude: [
        ...ELSEWHERE,
        ...ENGINE_TESTS,
        ...END_TO_END_TESTS,
        ...NIGHTLY_TESTS,
        ...LONG_PROOFS,
      ],
      testTimeout: 20_000,
      // Pure code shares its modules between files: half of the time goes into loading them.
      isolate: false,
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
      // Every file has databases of its own, and a third of the time it waits for them.
      maxWorkers: 3,
      // Loading the API takes seconds of a core, and 40 files need it.
      isolate: false,
      sequence: { groupOrder: 1 },
    },
  },
  {
    extends: true,
    test: {
      name: 'e2e',
      include: isNightly ? NIGHTLY_TESTS : END_TO_END_TESTS,
      exclude: ELSEWHERE,
      globalSetup,
      testTimeout: 600_000,
      hookTimeout: 300_000,
      maxWorkers: PRODUCTS_AT_A_TIME,
      sequence: { groupOrder: 2 },
    },
  },
  {
    extends: true,
    test: {
      name: 'proofs',
      include: LONG_PROOFS,
      exclude: [...ELSEWHERE, ...ENGINE_TESTS],
      testTimeout: 120_000,
      // Beside the products, which leave the cores idle half of the time.
      maxWorkers: PRODUCTS_AT_A_TIME,
      sequence: { groupOrder: 2 },
    },
  },
];

export default defineConfig(({ mode }) => {
  const isNightly = mode === 'nightly';
  return {
    root,
    test: {
      root,
      setupFiles: [`${root}load-tests/harness/repeat-seed.ts`],
      reporters: ['default', new SummaryReporter()],
      sequence: { sequencer: LongestFirst },
      // Each project is told by itself: what it extends is read again in the ordinary mode.
      projects: projectsOf(isNightly).map((project) => ({
        ...project,
        test: { ...project.test, provide: { isNightly } },
      })),
    },
  };
});
