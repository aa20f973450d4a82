/**
 * Who may import whom (docs/internals/style.md 2). A rule here is an architectural promise; its
 * comment says which. Folders: pure = contract, ingest/accept, aggregator/fold,
 * aggregator/protocol, billing-api/domain.
 */
const pure = '^(contract|ingest/accept|aggregator/fold|aggregator/protocol|billing-api/domain)/';
const programs = ['ingest', 'aggregator', 'billing-api'];
const tests = '\\.(test|db\\.test|http\\.test|e2e\\.test)\\.ts$';

const programWalls = programs.map((program) => ({
  name: `${program}-stands-alone`,
  comment:
    'Programs never import each other; they meet in the log, in the databases and in contract/.',
  severity: 'error',
  from: { path: `^${program}/` },
  to: { path: `^(${programs.filter((other) => other !== program).join('|')})/` },
}));

/** The folders of the pure core in the order in which they may import each other. */
const domainFolders = [
  'lifecycle',
  'money',
  'calendar',
  'periods',
  'outward',
  'price',
  'usage',
  'entitlement',
  'commitment',
  'rating',
  'settlement',
  'adjustments',
  'ledger',
  'wallet',
  'payment',
  'invoice',
];
const domain = '^billing-api/domain/';

const domainOrder = domainFolders.slice(0, -1).map((folder, index) => ({
  name: `domain-${folder}-imports-earlier-folders-only`,
  comment:
    'A folder of the domain imports only those before it in the list of domainFolders, types included.',
  severity: 'error',
  from: { path: `${domain}${folder}/`, pathNot: tests },
  to: { path: `${domain}(${domainFolders.slice(index + 1).join('|')})/` },
}));

/** The folders of the aggregator in groups of peers: each group may import those before it. */
const aggregatorOrder = [
  ['fold'],
  ['protocol'],
  ['data-until', 'dedup', 'gather', 'retention', 'write'],
  ['checkpoints'],
  ['flush'],
  ['backfill', 'ownership'],
  ['jobs'],
];

const aggregatorLayers = aggregatorOrder.flatMap((peers, level) =>
  peers.map((folder) => {
    const others = peers.filter((peer) => peer !== folder);
    const later = [...others, ...aggregatorOrder.slice(level + 1).flat()];
    return {
      name: `aggregator-${folder}-imports-earlier-folders-only`,
      comment:
        'A folder of the aggregator imports only those of earlier groups of aggregatorOrder.',
      severity: 'error',
      from: { path: `^aggregator/${folder}/`, pathNot: tests },
      to: { path: `^aggregator/(main\\.ts|aggregator\\.ts|(${later.join('|')})/)` },
    };
  }),
);

/**
 * The rooms of billing-api in the order in which they may know each other: each one knows those
 * before it, and all know declarations/, records/ and domain/. Groups are peers that do not know
 * each other. First what resources are by themselves, then documents of invoices, the money that
 * pays them, how they are made, and what changes subscriptions; then what is due, what reads only,
 * what leaves the building, and the jobs that start all that.
 */
const roomOrder = [
  ['due', 'platform', 'webhooks'],
  ['owners'],
  ['entitlements', 'credit-grants'],
  ['catalog'],
  ['coupons', 'taxes'],
  ['customers'],
  ['usage'],
  ['subscriptions', 'events'],
  ['documents'],
  ['money'],
  ['invoicing'],
  ['alerts', 'subscription-life'],
  ['runs'],
  ['reading'],
  ['corrections'],
  ['outward'],
  ['jobs'],
];
const rooms = roomOrder.flat();
const testing =
  '^(billing-api/testing|aggregator/testing|runtime/testing|sql/testing|clickhouse/testing|load-tests)/';

const roomRules = roomOrder.flatMap((group, place) => {
  const later = roomOrder.slice(place + 1).flat();
  return group.flatMap((name) => {
    const peers = group.filter((other) => other !== name);
    const unknown = [...peers, ...later];
    if (unknown.length === 0) return [];
    return {
      name: `${name}-knows-earlier-rooms-only`,
      comment: `Rooms in order: ${rooms.join(', ')}; each knows those before it.`,
      severity: 'error',
      from: { path: `^billing-api/${name}/`, pathNot: tests },
      to: { path: `^billing-api/(${unknown.join('|')})/` },
    };
  });
});

module.exports = {
  forbidden: [
    ...programWalls,
    ...roomRules,
    {
      name: 'every-room-is-in-the-order',
      comment: 'A folder of billing-api that is not in roomOrder would be under no rule.',
      severity: 'error',
      from: {},
      to: {
        path: '^billing-api/[^/]+/',
        pathNot: `^billing-api/(declarations|domain|edge|generated|records|testing|${rooms.join('|')})/`,
      },
    },
    {
      name: 'no-room-knows-the-program',
      comment:
        'The files beside the rooms put the program together. What a controller works with stands in its own room; generated/controllers.ts lets the compiler compare it with what the program hands over.',
      severity: 'error',
      from: { path: '^billing-api/[^/]+/', pathNot: `${tests}|${testing}` },
      to: { path: '^billing-api/[^/]+\\.ts$' },
    },
    {
      name: 'declarations-know-no-room',
      comment:
        'What is declared lies lowest, so that a resource knows the columns and answers of every other without knowing what it does.',
      severity: 'error',
      from: { path: '^billing-api/declarations/', pathNot: tests },
      to: { path: '^billing-api/', pathNot: '^billing-api/(declarations|records|domain)/' },
    },
    {
      name: 'records-know-no-resource',
      comment: 'The functions that every resource uses know records, not resources.',
      severity: 'error',
      from: { path: '^billing-api/records/', pathNot: tests },
      to: { path: '^billing-api/', pathNot: '^billing-api/(records|domain)/' },
    },
    {
      name: 'edge-knows-records-only',
      comment: 'What every request passes knows no resource.',
      severity: 'error',
      from: { path: '^billing-api/edge/', pathNot: tests },
      to: { path: '^billing-api/', pathNot: '^billing-api/(edge|records|generated|domain)/' },
    },
    {
      name: 'controllers-ask-operations',
      comment: 'Controllers read a request, run an operation and write its answer.',
      severity: 'error',
      from: { path: '^billing-api/.*-controller\\.ts$' },
      to: { path: '^billing-api/.*-store\\.ts$|^(sql|clickhouse)/' },
    },
    {
      name: 'stores-run-no-operation',
      comment: 'Stores hold statements; operations decide.',
      severity: 'error',
      from: { path: '^billing-api/.*-store\\.ts$' },
      to: { path: '^billing-api/.*(-operations|-controller)\\.ts$' },
    },
    {
      name: 'payments-know-nobody-at-a-gateway',
      comment:
        'What is recorded of payments stands alone; what asks a gateway about them, or hears from it, knows it.',
      severity: 'error',
      from: { path: '^billing-api/money/(payments|gateways)/', pathNot: tests },
      to: { path: '^billing-api/money/gateway-payments/' },
    },
    {
      name: 'nobody-imports-a-controller',
      comment: 'Only the generated routes do.',
      severity: 'error',
      from: { path: '^billing-api/', pathNot: '^billing-api/generated/' },
      to: { path: '-controller\\.ts$', pathNot: '^billing-api/edge/api-controller\\.ts$' },
    },
    {
      name: 'production-knows-no-tests',
      comment: 'The harness of tests is imported by tests only.',
      severity: 'error',
      from: { pathNot: `${testing}|^ingest/testing/|${tests}|^\\.config/|^cli/` },
      to: { path: testing },
    },
    ...domainOrder,
    ...aggregatorLayers,
    {
      name: 'every-folder-of-the-aggregator-is-in-the-order',
      comment: 'A folder that is not in aggregatorOrder would be under no rule.',
      severity: 'error',
      from: {},
      to: {
        path: '^aggregator/[^/]+/',
        pathNot: `^aggregator/(testing|${aggregatorOrder.flat().join('|')})/`,
      },
    },
    {
      name: 'domain-folders-are-in-the-order',
      comment: 'Every file of the domain stands in a folder of domainFolders.',
      severity: 'error',
      from: {},
      to: { path: domain, pathNot: `${domain}(${domainFolders.join('|')})/` },
    },
    {
      name: 'domain-has-no-cycles',
      comment: 'Between files of the domain, type imports are part of a cycle.',
      severity: 'error',
      from: { path: domain },
      to: { circular: true },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'pure-core',
      comment:
        'Pure code has no I/O, no clock, no randomness, so that every run can be repeated. ' +
        'Exception: the errors of bugs and outages, which have none of these either.',
      severity: 'error',
      from: { path: pure, pathNot: tests },
      to: {
        pathNot: `${pure}|^runtime/failure\\.ts$|^node_modules/(decimal\\.js|jsep|temporal-polyfill|temporal-spec|temporal-utils|canonicalize)/`,
      },
    },
    {
      name: 'client-stands-alone',
      comment:
        'The client is published by itself: it knows nothing of ours but what the document says.',
      severity: 'error',
      from: { path: '^client/', pathNot: tests },
      to: { path: '^(?!client/|node:)[a-z.-]+/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'nobody-knows-the-client',
      comment:
        'The product does not call itself: only tests, measurements and the console, which runs in browsers, use the client.',
      severity: 'error',
      from: { pathNot: `^(client|load-tests|web)/|${tests}` },
      to: { path: '^client/' },
    },
    {
      name: 'console-knows-the-client-only',
      comment:
        'The console does what a program of somebody else could: it knows the client, and nothing of the product.',
      severity: 'error',
      from: { path: '^web/', pathNot: tests },
      to: { path: '^(?!web/|client/|node_modules/)[a-z.-]+/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'console-uses-few-packages',
      comment: 'What browsers load stays small: the build alone uses more.',
      severity: 'error',
      from: { path: '^web/', pathNot: `${tests}|^web/build\\.mjs$` },
      to: { path: '^node_modules/', pathNot: '^node_modules/(preact|@preact)/' },
    },
    {
      name: 'nobody-knows-the-console',
      comment: 'It is files that billing-api serves.',
      severity: 'error',
      from: { pathNot: `^web/|${tests}` },
      to: { path: '^web/' },
    },
    {
      name: 'contract-knows-nobody',
      severity: 'error',
      from: { path: '^contract/', pathNot: tests },
      to: {
        path: '^(runtime|event-log|ingest|aggregator|billing-api|sql|clickhouse|load-tests|cli)/',
      },
    },
    {
      name: 'runtime-knows-contract-only',
      severity: 'error',
      from: { path: '^runtime/' },
      to: { path: '^(event-log|ingest|aggregator|billing-api|sql|clickhouse|load-tests|cli)/' },
    },
    {
      name: 'engines-know-no-program',
      severity: 'error',
      from: { path: '^(sql|clickhouse|event-log)/', pathNot: `${tests}|${testing}` },
      to: { path: '^(ingest|aggregator|billing-api|load-tests|cli)/' },
    },
    {
      name: 'main-is-a-root',
      severity: 'error',
      from: {},
      to: { path: '/main\\.ts$' },
    },
    {
      name: 'load-tests-use-public-interfaces',
      comment:
        'Only HTTP, Kafka and SQL; cli/ starts the programs for it. Exceptions: the simulator and the comparison of its stores with the real statements, the aggregator that crashes between two steps of the protocol, which nobody outside of it can time, the time that pricing takes in memory, what hands random subscriptions and events to the pricing core, invoices that are kept and computed again, random walks and lives of subscriptions, whose clock is turned by the runner of the jobs itself, what ingest reports and an aggregator notes of it, whose steps nobody outside of them can time, and the check of answers against the document, which the tests of billing-api have already.',
      severity: 'error',
      from: {
        path: '^load-tests/',
        pathNot:
          '^load-tests/(proofs/simulation(-conformance)?/|proofs/data-until/|proofs/faults/crashing-aggregator\\.ts$|speed/pure-pricing\\.ts$|proofs/pricing-oracle/agreement/|proofs/usage-oracle/agreement/core-usage\\.ts$|proofs/golden-invoices/|proofs/(subscription-walk|whole-lives|killed-year)/|proofs/interface-fuzzer/fuzz-run\\.ts$)',
      },
      to: { path: '^(ingest|aggregator|billing-api)/' },
    },
    {
      name: 'oracle-shares-nothing',
      comment:
        'The oracle answers from the rules alone; only what compares it with the product knows both.',
      severity: 'error',
      from: {
        path: '^load-tests/proofs/((usage|pricing)-oracle/|subscription-walk/model/|simulation/(expected-counts|scenario-plan)\\.ts$)',
        pathNot: `/agreement/|/main\\.ts$|${tests}`,
      },
      to: {
        path: '^(contract|runtime|event-log|ingest|aggregator|billing-api|sql|clickhouse|cli)/|/agreement/|^node_modules/(decimal|temporal)',
      },
    },
    {
      name: 'simulation-runs-the-pure-core',
      comment:
        'The simulator exists to run the production machine and fold themselves, not copies; ' +
        'the databases and the log, which it simulates, it may not import.',
      severity: 'error',
      from: { path: '^load-tests/proofs/simulation/', pathNot: `main\\.ts$|${tests}` },
      to: {
        pathNot: [
          '^(load-tests/proofs/simulation|aggregator/(protocol|fold)|contract)/',
          '^load-tests/harness/seeded-random\\.ts$',
        ],
      },
    },
    {
      name: 'no-undeclared-packages',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|generated)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
