import type { Limits, RecordPlan, ScenarioPlan } from './scenario-plan.js';

const NOTHING: Limits = {
  epochs: 3,
  timeouts: 0,
  lostReplies: 0,
  kills: 0,
  powerLosses: 0,
  restores: 0,
  lostParts: 0,
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

/** Together about a minute of one core. */
export const SMALL_WORLDS: readonly SmallWorld[] = [
  {
    name: 'two records, three epochs, time-outs',
    plan: small([['x'], ['y']], { limits: { ...NOTHING, timeouts: 2 } }),
  },
  {
    name: 'a duplicate, lost replies',
    plan: small([['y'], ['y']], { limits: { ...NOTHING, lostReplies: 2 } }),
  },
  {
    name: 'a duplicate, four epochs',
    plan: small([['x', 'y'], ['x']], { limits: { ...NOTHING, epochs: 4 } }),
  },
  {
    name: 'a kill of ClickHouse',
    plan: small([['x'], ['y'], ['x']], { limits: { ...NOTHING, epochs: 2, kills: 1 } }),
  },
  {
    name: 'a power loss',
    plan: small([['x', 'y'], ['x']], { limits: { ...NOTHING, powerLosses: 1 } }),
  },
  {
    name: 'a meter activated meanwhile, lost replies',
    plan: small([['x*'], ['y*']], {
      ...TWO_METERS,
      limits: { ...NOTHING, epochs: 2, lostReplies: 1 },
    }),
  },
  {
    name: 'a meter of other events activated meanwhile, lost replies',
    plan: small([['x'], ['y']], {
      meters: [
        { meterId: 'm', isProOnly: false },
        { meterId: 'n', isProOnly: false, isElsewhere: true },
      ],
      limits: { ...NOTHING, epochs: 2, lostReplies: 1 },
    }),
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
    plan: small([['x'], ['y']], { limits: { ...NOTHING, epochs: 2, restores: 1 } }),
  },
  {
    name: 'two releases that fold differently',
    plan: small([['x'], ['x']], { hasOtherRelease: true, limits: NOTHING }),
  },
];

/** Some minutes in all. */
export const LARGER_WORLDS: readonly SmallWorld[] = [
  {
    name: 'three records, three epochs, time-outs and a lost reply',
    plan: small([['x'], ['y'], ['x']], {
      recordsMax: 3,
      limits: { ...NOTHING, timeouts: 1, lostReplies: 1 },
    }),
  },
  {
    name: 'three records, three epochs, a power loss and a lost reply',
    plan: small([['x', 'y'], ['x']], {
      limits: { ...NOTHING, powerLosses: 1, lostReplies: 1 },
    }),
  },
  {
    name: 'a meter activated meanwhile, three records, two attempts at its backfill',
    plan: small([['x*'], ['y*'], ['z']], {
      ...TWO_METERS,
      limits: { ...NOTHING, epochs: 2, backfillAttempts: 2 },
    }),
  },
];
