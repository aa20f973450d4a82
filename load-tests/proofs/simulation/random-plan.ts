import type { RecordPlan, ScenarioPlan } from './scenario-plan.js';

/** Chances of each failure, per choice; every world draws its own. */
export type Dangers = {
  readonly crash: number;
  readonly fail: number;
  readonly lose: number;
  readonly giveUp: number;
  readonly server: number;
  readonly meters: number;
  /** How likely it is that an owner takes no step for a long time. */
  readonly pause: number;
  /** How likely an owner that was fenced is to take the partition again. */
  readonly rivalry: number;
  /** How likely it is that no insert goes on for a while. */
  readonly stall: number;
  /** How likely a process is to wait until it can send the inserts of several partitions. */
  readonly together: number;
};

export type RandomPlan = {
  readonly plan: ScenarioPlan;
  readonly dangers: Dangers;
  readonly actions: number;
};

const UNLIMITED = 1_000_000;

function between(random: () => number, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** Records with duplicates inside and between them; the ids of a partition are its own. */
function randomLog(random: () => number, partition: number): readonly RecordPlan[] {
  const ids = between(random, 3, 30);
  const records = between(random, 3, 24);
  return Array.from({ length: records }, () =>
    Array.from({ length: random() < 0.7 ? 1 : between(random, 2, 4) }, () => {
      const id = `p${partition}-${between(random, 1, ids)}`;
      return random() < 0.5 ? id : `${id}*`;
    }),
  );
}

function randomMeters(random: () => number): ScenarioPlan['meters'] {
  return Array.from({ length: between(random, 1, 5) }, () => ({
    meterId: `m${between(random, 1, 3)}`,
    isProOnly: random() < 0.5,
  }));
}

function randomDangers(random: () => number): Dangers {
  const danger = (most: number): number => (random() < 0.3 ? 0 : random() * random() * most);
  return {
    crash: danger(0.02),
    fail: danger(0.1),
    lose: danger(0.3),
    giveUp: danger(0.3),
    server: danger(0.02),
    meters: 0.02 + danger(0.2),
    pause: danger(0.05),
    rivalry: 0.002 + random() * random() * 0.06,
    stall: danger(0.05),
    together: random() < 0.3 ? 0 : 0.8 + random() * 0.18,
  };
}

/** One world in eight restores a store, and one in eight runs two releases at once. */
function randomContradiction(random: () => number): 'none' | 'restore' | 'lost_part' | 'releases' {
  const draw = between(random, 0, 23);
  if (draw < 2) return 'restore';
  if (draw < 3) return 'lost_part';
  return draw < 6 ? 'releases' : 'none';
}

/** One world in so many has events erased. That takes no draw: the others stay as they are. */
const ERASED_OF = 5;

/** Minutes and backfills of erased events are a matter of the tests on real engines. */
function withErasures(plan: ScenarioPlan): ScenarioPlan {
  const { limits, meters } = plan;
  return { ...plan, metersAtStart: meters.length, limits: { ...limits, erasures: UNLIMITED } };
}

/** The world of a seed: shape, log, meters and what may go wrong. */
export function drawPlan(random: () => number): RandomPlan {
  const contradiction = randomContradiction(random);
  const meters = randomMeters(random);
  const partitions = between(random, 1, 3);
  const plan: ScenarioPlan = {
    logs: Array.from({ length: partitions }, (_, partition) => randomLog(random, partition)),
    meters,
    metersAtStart: between(random, 0, Math.min(2, meters.length)),
    owners: between(random, 1, 3),
    eventsMax: between(random, 1, 8),
    recordsMax: between(random, 1, 8),
    recordsAtStart: random() < 0.5 ? between(random, 0, 10) : 100,
    lateRows: random() < 0.2,
    hasOtherRelease: contradiction === 'releases',
    limits: {
      epochs: UNLIMITED,
      timeouts: UNLIMITED,
      refusals: UNLIMITED,
      lostReplies: UNLIMITED,
      kills: UNLIMITED,
      powerLosses: random() < 0.5 ? UNLIMITED : 0,
      restores: contradiction === 'restore' ? 1 : 0,
      lostParts: contradiction === 'lost_part' ? 1 : 0,
      erasures: 0,
      backfillAttempts: UNLIMITED,
    },
  };
  const drawn = { plan, dangers: randomDangers(random), actions: between(random, 200, 2_000) };
  const isErased = contradiction === 'none' && drawn.actions % ERASED_OF === 0;
  return isErased ? { ...drawn, plan: withErasures(plan) } : drawn;
}
