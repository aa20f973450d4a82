// Style rules that fail the build: sizes and shapes of docs/internals/style.md 4, type-aware
// correctness.
import tseslint from 'typescript-eslint';
import { noDroppedRefusal, noRefusalInUnit } from './no-dropped-refusal.js';
import { noLiteralState } from './no-literal-state.js';
import { noSilentZero } from './no-silent-zero.js';

const sizes = {
  'max-lines-per-function': ['error', { max: 60, skipComments: true, skipBlankLines: true }],
  'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }],
  'max-params': ['error', 3],
  complexity: ['error', 10],
  'max-depth': ['error', 3],
  'max-len': [
    'error',
    {
      code: 100,
      ignoreUrls: true,
      ignoreRegExpLiterals: true,
      ignoreTemplateLiterals: true,
      ignoreStrings: true,
    },
  ],
};

const shapes = {
  'prefer-const': 'error',
  eqeqeq: 'error',
  'no-console': 'error',
  'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
  'no-restricted-syntax': [
    'error',
    { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
    {
      selector: "CallExpression[callee.object.name='vi'][callee.property.name=/^(mock|doMock)$/]",
      message:
        'Module mocks are banned: use the real engine, or pass a fake clock, id source or log.',
    },
    {
      selector: 'ExportAllDeclaration',
      message: 'No barrels: import from the file that defines the name.',
    },
    {
      selector:
        'ObjectExpression > SpreadElement > ObjectExpression, :matches(ArrayExpression, CallExpression, NewExpression) > SpreadElement > ArrayExpression',
      message: 'Write the members out: a spread of a literal says nothing that they do not.',
    },
  ],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { allowDefaultCaseForExhaustiveSwitch: false, considerDefaultExhaustiveForUnions: true },
  ],
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/return-await': ['error', 'in-try-catch'],
};

/**
 * Statements of billing-api outside a unit run as the owner of the database, whom row-level
 * security does not bind. These files may do so, each for its reason.
 */
const OUTSIDE_OF_UNITS = [
  // One statement that enters the environment by itself, because every usage query waits for it.
  'billing-api/usage/usage-definitions.ts',
  // Users belong to tenants, not to environments.
  'billing-api/platform/users/users-store.ts',
  // The log and its checkpoints serve all tenants.
  'billing-api/usage/watermark/checkpoints.ts',
  'billing-api/usage/watermark/data-until.ts',
  'billing-api/usage/expired/raw-events-begin.ts',
  // Jobs and operators work across tenants.
  'billing-api/edge/idempotency/idempotency-store.ts',
  'billing-api/events/dead-letters/read-dead-letters.ts',
  'billing-api/events/reconciliation/usage-recount.ts',
];

/** Where amounts and quantities are computed: what cannot be found must not count as nothing. */
const MONEY_AND_USAGE = [
  'billing-api/domain/**/*.ts',
  'billing-api/declarations/{catalog/price*,subscriptions/*}.ts',
  'billing-api/catalog/prices/**/*.ts',
  'billing-api/entitlements/**/*.ts',
  'billing-api/usage/**/*.ts',
  'billing-api/subscriptions/**/*.ts',
  'billing-api/{documents,invoicing,subscription-life,runs,reading,outward}/**/*.ts',
  'billing-api/money/{payments,gateways,gateway-payments,credit-notes}/**/*.ts',
  'billing-api/money/wallets/apply-grants.ts',
  'aggregator/fold/**/*.ts',
];

/**
 * In billing-api the instant of a reading or a change is that of its unit, which follows the test
 * clock of the environment (docs/domain.md 1). These files may ask the machine, each for its
 * reason.
 */
const MACHINE_CLOCK = [
  // They hand the clock on.
  'billing-api/app.ts',
  'billing-api/events/log-access.ts',
  // What gives a unit its instant where there is no test clock, and a usage query, which has none.
  'billing-api/records/unit.ts',
  'billing-api/usage/usage-definitions.ts',
  // Keys, tokens, leases of requests and limits of rates end in real time.
  'billing-api/edge/**',
  // Receivers of webhooks live in real time.
  'billing-api/webhooks/**',
  'billing-api/jobs/deliver-webhooks.ts',
  'billing-api/platform/keys/create-key.ts',
  // So are events received and counted.
  'billing-api/events/reconciliation/**',
  'billing-api/usage/watermark/**',
  // An operator replays letters of all environments at once.
  'billing-api/events/dead-letters/replay-dead-letters.ts',
];

/** Rules of our own. */
const house = {
  rules: {
    'no-dropped-refusal': noDroppedRefusal,
    'no-literal-state': noLiteralState,
    'no-refusal-in-unit': noRefusalInUnit,
    'no-silent-zero': noSilentZero,
  },
};

const OF_UNITS = 'Take `now` from the unit (records/unit.ts), which follows test clocks.';

export default tseslint.config(
  { ignores: ['**/dist/**', '**/generated/**', '**/node_modules/**'] },
  {
    files: ['**/*.{ts,tsx}'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: `${import.meta.dirname}/..` },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: { ...sizes, ...shapes },
  },
  {
    files: ['billing-api/**/*.ts'],
    ignores: ['**/*.test.ts', 'billing-api/testing/**', ...OUTSIDE_OF_UNITS],
    rules: {
      'no-restricted-syntax': [
        ...shapes['no-restricted-syntax'],
        {
          selector: "MemberExpression[property.name='slonik']",
          message: 'Run statements in a unit (records/unit.ts), under row-level security.',
        },
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: OF_UNITS },
      ],
    },
  },
  {
    files: ['billing-api/**/*.ts'],
    ignores: ['**/*.test.ts', 'billing-api/testing/**', ...MACHINE_CLOCK],
    rules: {
      'no-restricted-properties': [
        'error',
        { property: 'clock', message: OF_UNITS },
        { object: 'systemClock', property: 'now', message: OF_UNITS },
        { object: 'Date', property: 'now', message: OF_UNITS },
      ],
    },
  },
  {
    files: ['billing-api/**/*.ts'],
    ignores: ['**/*.test.ts'],
    plugins: { house },
    rules: { 'house/no-dropped-refusal': 'error' },
  },
  {
    files: ['billing-api/**/*.ts'],
    ignores: ['**/*.test.ts'],
    plugins: { house },
    rules: { 'house/no-refusal-in-unit': 'error' },
  },
  {
    files: ['billing-api/**/*.ts'],
    ignores: ['**/*.test.ts', 'billing-api/testing/**', 'billing-api/domain/lifecycle/**'],
    plugins: { house },
    rules: { 'house/no-literal-state': 'error' },
  },
  {
    files: MONEY_AND_USAGE,
    ignores: ['**/*.test.ts'],
    plugins: { house },
    rules: { 'house/no-silent-zero': 'error' },
  },
  {
    // A describe block is a list of cases and may be longer than a function.
    files: ['**/*.test.ts'],
    rules: { 'max-lines-per-function': 'off', 'max-lines': ['error', 700] },
  },
  {
    // Functions that fill an environment for tests are lists of requests.
    files: ['**/testing/**'],
    rules: {
      'max-lines-per-function': ['error', { max: 90, skipComments: true, skipBlankLines: true }],
    },
  },
  {
    // Printing is the purpose of these programs.
    files: ['cli/**/*.ts', 'load-tests/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['.config/*.ts'],
    rules: { 'no-restricted-exports': 'off' },
  },
);
