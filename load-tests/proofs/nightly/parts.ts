import { join } from 'node:path';
import { builtModule, projectRoot } from '../../../runtime/project.js';

/** How much each part does. */
export type NightlySizes = {
  /** Random runs under faults on each log. */
  readonly runs: number;
  readonly pricingCases: number;
  readonly oracleCases: number;
  readonly fuzzCalls: number;
  readonly simulatedSeconds: number;
  /** Mutations whose name contains the text; all when empty. */
  readonly only: string;
};

/** One long proof: a program of its own, so that it cannot harm the next. */
export type NightlyPart = {
  readonly name: string;
  /** What it does and how much of it, for the table. */
  readonly what: string;
  /** Command-line arguments of Node. */
  readonly parameters: readonly string[];
};

const NODE = ['--enable-source-maps'];

function program(module: string, parameters: readonly string[]): readonly string[] {
  return [...NODE, builtModule(`load-tests/proofs/${module}`), ...parameters];
}

function tests(parameters: readonly string[]): readonly string[] {
  const vitest = join(projectRoot, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(projectRoot, '.config', 'vitest.config.ts');
  return [vitest, 'run', '--config', config, '--mode', 'nightly', ...parameters];
}

type Described = readonly [name: string, what: string, parameters: readonly string[]];

function programs(sizes: NightlySizes, seed: number): readonly Described[] {
  const { runs, pricingCases, oracleCases, simulatedSeconds, only } = sizes;
  const seeded = ['--seed', String(seed)];
  const faults = (log: string): readonly string[] =>
    program('faults/main', ['--log', log, '--runs', String(runs), ...seeded]);
  const scenarios = (log: string): readonly string[] =>
    program('faults/main', ['--log', log, '--scenarios']);
  const mutations = (of: string): readonly string[] =>
    program('mutations/main', ['--of', of, '--only', only]);
  const simulate = (parameters: readonly string[]): readonly string[] =>
    program('simulation/main', parameters);
  const first = ['--first-seed', String(seed)];
  return [
    ['faults-postgres', `${runs} random runs`, faults('postgres')],
    ['faults-kafka', `${runs} random runs`, faults('kafka')],
    [
      'faults-brokers',
      `${runs} random runs on three brokers`,
      [...faults('kafka'), '--brokers', '3'],
    ],
    ['mutations-event-path', 'all', mutations('event-path')],
    [
      'simulation',
      `random worlds for ${simulatedSeconds} s`,
      simulate(['--seconds', String(simulatedSeconds), ...first]),
    ],
    ['scenarios-postgres', 'long form of all', scenarios('postgres')],
    ['scenarios-kafka', 'long form of all', scenarios('kafka')],
    ['mutations-guards', 'all', mutations('guards')],
    ['mutations-simulation', 'all', mutations('simulation')],
    ['mutations-pricing', 'all', mutations('pricing')],
    ['mutations-oracles', 'the pricing ones, of the oracles alone', mutations('oracles')],
    [
      'pricing',
      `${pricingCases} cases`,
      program('pricing-oracle/main', ['--runs', String(pricingCases), ...seeded]),
    ],
    [
      'oracle',
      `${oracleCases} cases`,
      program('usage-oracle/main', ['--runs', String(oracleCases), ...seeded]),
    ],
    [
      'fuzz',
      `${sizes.fuzzCalls} calls`,
      program('interface-fuzzer/main', ['--calls', String(sizes.fuzzCalls), ...seeded]),
    ],
    ['simulation-larger', 'every order, larger worlds too', simulate(['--larger'])],
  ];
}

/** Measurements with a target of CPU time, which does not need the machine for itself. */
const MEASUREMENTS_OF_NIGHT: readonly Described[] = [
  [
    'at-rest',
    'what a fresh installation uses while nothing is asked',
    [...NODE, builtModule('load-tests/speed/questions/at-rest')],
  ],
];

/** Tests that draw their own seeds and print them when they fail. */
const TESTS_OF_NIGHT: readonly Described[] = [
  [
    'simulation-conformance',
    '1,000 sequences',
    tests(['--project', 'engines', 'load-tests/proofs/simulation-conformance']),
  ],
  [
    'stored-lives',
    '200 subscriptions of up to two years, billed by the jobs',
    tests(['--project', 'engines', 'load-tests/proofs/pricing-oracle/agreement/stored']),
  ],
  [
    'due-at-once',
    '10,000 subscriptions that are due at the same second',
    tests(['--project', 'engines', 'billing-api/runs/many-due']),
  ],
  [
    'long-lives',
    'a year of a test clock in steps of three days, and a hundred previews at once',
    tests([
      '--project',
      'engines',
      'billing-api/platform/test-clocks',
      'billing-api/invoicing/compute/many-invoices',
    ]),
  ],
  [
    'abandoned-requests',
    '50,000 clients that leave, at each API',
    tests(['--project', 'engines', 'abandoned-requests']),
  ],
  [
    'products',
    'the demo; kill -9 and ownership on both logs; attacks with strict times',
    tests(['--project', 'e2e']),
  ],
];

/** All long proofs, those of many minutes first; the random ones start at `seed`. */
export function nightlyParts(sizes: NightlySizes, seed: number): readonly NightlyPart[] {
  const described = [...programs(sizes, seed), ...TESTS_OF_NIGHT, ...MEASUREMENTS_OF_NIGHT];
  return described.map(([name, what, parameters]) => ({ name, what, parameters }));
}
