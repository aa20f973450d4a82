import type { Limits, RecordPlan, ScenarioPlan } from './scenario-plan.js';

const NOTHING: Limits = {
  epochs: 3,
  timeouts: 0,
  refusals: 0,
  lostReplies: 0,
  kills: 0,
  powerLosses: 0,
  restores: 0,
  lostParts: 0,
  erasures: 0,
  backfillAttempts: 1,
};

function small(log: readonly RecordPlan[], change: Partial<ScenarioPlan> = {}): ScenarioPlan {
  return {
    logs: [log],
    meters: [{ meterId: 'm', isProOnly: false }],
    metersAtStart: 1,
    owners: 2,
    eventsMax: 9,
    recordsMax: 2,
    recordsAtStart: log.length,
    lateRows: false,
    hasOtherRelease: false,
    limits: NOTHING,
    ...change,
  };
}

/** A world of which every order of actions is tried. */
export type SmallWorld = { readonly name: string; readonly plan: ScenarioPlan };

const TWO_METERS = {
  meters: [
    { meterId: 'm', isProOnly: false },
    { meterId: 'n', isProOnly: true },
  ],
};

const OTHER_METER: Pick<ScenarioPlan, 'meters'> = {
  meters: [
    { meterId: 'm', isProOnly: false },
    { meterId: 'n', isProOnly: false, isElsewhere: true },
  ],
};

/** Two partitions, whose inserts a process may send together; the first is taken once. */
function group(change: Partial<ScenarioPlan> = {}): ScenarioPlan {
  return small([], {
    logs: [[['x']], [['y']]],
    epochsOf: [1, 2],
    limits: { ...NOTHING, epochs: 2 },
    recordsAtStart: 2,
    ...change,
  });
}

const TWO_RECORDS = [['x'], ['y']];
const A_DUPLICATE = [['y'], ['y']];
const A_DUPLICATE_OF_TWO = [['x', 'y'], ['x']];

/** Together about half a minute of one core. */
export const SMALL_WORLDS: readonly SmallWorld[] = [
  {
    name: 'two records, three epochs, a time-out',
    plan: small(TWO_RECORDS, { limits: { ...NOTHING, timeouts: 1 } }),
  },
  {
    name: 'a duplicate, two epochs, two refused inserts',
    plan: small(A_DUPLICATE_OF_TWO, { limits: { ...NOTHING, epochs: 2, refusals: 2 } }),
  },
  {
    name: 'a duplicate, two epochs, two lost replies',
    plan: small(A_DUPLICATE, { limits: { ...NOTHING, epochs: 2, lostReplies: 2 } }),
  },
  {
    name: 'a duplicate, three epochs',
    plan: small(A_DUPLICATE_OF_TWO),
  },
  {
    name: 'a kill of ClickHouse',
    plan: small([['x'], ['y'], ['x']], { limits: { ...NOTHING, epochs: 2, kills: 1 } }),
  },
  {
    name: 'a power loss',
    plan: small(A_DUPLICATE_OF_TWO, { limits: { ...NOTHING, powerLosses: 1 } }),
  },
  {
    name: 'a meter activated meanwhile, a lost reply',
    plan: small([['x*'], ['y*']], {
      ...TWO_METERS,
      limits: { ...NOTHING, epochs: 2, lostReplies: 1 },
    }),
  },
  {
    name: 'a meter of other events activated meanwhile',
    plan: small(TWO_RECORDS, { ...OTHER_METER, limits: { ...NOTHING, epochs: 2 } }),
  },
  {
    name: 'a meter activated meanwhile, two attempts at its backfill',
    plan: small([['x*'], ['y*']], {
      ...TWO_METERS,
      limits: { ...NOTHING, epochs: 1, timeouts: 1, backfillAttempts: 2 },
    }),
  },
  {
    name: 'a meter changed meanwhile, and changed back',
    plan: small([['x*'], ['y']], {
      meters: [
        { meterId: 'm', isProOnly: false },
        { meterId: 'm', isProOnly: true },
      ],
      recordsMax: 1,
      limits: { ...NOTHING, epochs: 1, timeouts: 1, backfillAttempts: 2 },
    }),
  },
  {
    name: 'a restored Postgres',
    plan: small(TWO_RECORDS, { limits: { ...NOTHING, epochs: 2, restores: 1 } }),
  },
  {
    name: 'two releases that fold differently',
    plan: small([['x'], ['x']], { hasOtherRelease: true, limits: NOTHING }),
  },
  {
    name: 'the events of finished batches erased, two epochs',
    plan: small(TWO_RECORDS, { limits: { ...NOTHING, epochs: 2, erasures: 1 } }),
  },
  { name: 'inserts of two partitions, one of them taken again', plan: group() },
  {
    name: 'inserts of two partitions, a kill of ClickHouse',
    plan: group({ epochsOf: [1, 1], limits: { ...NOTHING, kills: 1 } }),
  },
  {
    name: 'inserts of two partitions, two batches, a time-out',
    plan: group({
      logs: [[['x'], ['x']], [['y']]],
      epochsOf: [1, 1],
      limits: { ...NOTHING, timeouts: 1 },
    }),
  },
  {
    name: 'inserts of two partitions, a meter activated meanwhile',
    plan: group({ ...TWO_METERS, logs: [[['x*']], [['y*']]], epochsOf: [1, 1] }),
  },
];

/** Some minutes in all. */
export const LARGER_WORLDS: readonly SmallWorld[] = [
  {
    name: 'two records, three epochs, two time-outs',
    plan: small(TWO_RECORDS, { limits: { ...NOTHING, timeouts: 2 } }),
  },
  {
    name: 'a duplicate, three epochs, two lost replies',
    plan: small(A_DUPLICATE, { limits: { ...NOTHING, lostReplies: 2 } }),
  },
  {
    name: 'a duplicate, four epochs',
    plan: small(A_DUPLICATE_OF_TWO, { limits: { ...NOTHING, epochs: 4 } }),
  },
  {
    name: 'three records, three epochs, time-outs and a lost reply',
    plan: small([['x'], ['y'], ['x']], {
      recordsMax: 3,
      limits: { ...NOTHING, timeouts: 1, lostReplies: 1 },
    }),
  },
  {
    name: 'three records, three epochs, a power loss and a lost reply',
    plan: small(A_DUPLICATE_OF_TWO, {
      limits: { ...NOTHING, powerLosses: 1, lostReplies: 1 },
    }),
  },
  {
    name: 'a meter of other events activated meanwhile, a lost reply',
    plan: small(TWO_RECORDS, {
      ...OTHER_METER,
      limits: { ...NOTHING, epochs: 2, lostReplies: 1 },
    }),
  },
  {
    name: 'a meter activated meanwhile, three records, two attempts at its backfill',
    plan: small([['x*'], ['y*'], ['z']], {
      ...TWO_METERS,
      limits: { ...NOTHING, epochs: 2, backfillAttempts: 2 },
    }),
  },
  {
    name: 'inserts of two partitions, one of them taken again, a time-out',
    plan: group({ limits: { ...NOTHING, timeouts: 1 } }),
  },
  {
    name: 'inserts of two partitions, one of them taken again, a power loss',
    plan: group({ limits: { ...NOTHING, powerLosses: 1 } }),
  },
  {
    name: 'inserts of two partitions, one of them taken again, a meter activated meanwhile',
    plan: group({ ...TWO_METERS, logs: [[['x*']], [['y*']]] }),
  },
  {
    name: 'inserts of two partitions, each taken twice',
    plan: group({ epochsOf: [2, 2] }),
  },
];
