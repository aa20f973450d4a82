import type { Action } from './actions.js';
import type { Scenario } from './scenario.js';
import { countMatching } from './simulated-clickhouse.js';
import {
  activateMeterVersion,
  claimBackfill,
  completeBackfill,
  isClaimable,
  postponeBackfill,
  retireUnread,
  revertMeter,
} from './simulated-postgres.js';
import {
  withItem,
  withoutItem,
  type Attempt,
  type LateBackfill,
  type MetersWorld,
  type World,
} from './world.js';

type OnMeters = Extract<
  Action,
  {
    readonly kind:
      | 'activate'
      | 'revert'
      | 'retire_unread'
      | 'claim'
      | 'backfill'
      | 'lose_backfill'
      | 'abandon'
      | 'land_backfill';
  }
>;

/** The partitions whose stored events an attempt reads, in its order. */
function rangesOf({ versions }: MetersWorld, attempt: Attempt): readonly number[] {
  const startOffsets = versions[attempt.version]?.startOffsets ?? [];
  return startOffsets.flatMap((liveFrom, partition) => (liveFrom > 0 ? [partition] : []));
}

/** The INSERT … SELECT of the attempt's next partition; null when all are done. */
function insertRange(scenario: Scenario, world: World, attempt: Attempt): MetersWorld | null {
  const { meters } = world;
  const index = rangesOf(meters, attempt)[attempt.partitionsDone];
  const version = meters.versions[attempt.version];
  if (index === undefined || version === undefined) return null;
  const facts = scenario.partitions[index];
  const partition = world.partitions[index];
  if (facts === undefined || partition === undefined) return null;
  const { plan, startOffsets } = version;
  const events = countMatching(facts, partition, { plan, liveFrom: startOffsets[index] ?? 0 });
  const part = { generation: attempt.generation, partition: index, events };
  return { ...meters, attemptParts: [...meters.attemptParts, part] };
}

/** The next statement of an attempt takes effect: the insert of a partition, or the completion. */
function advance(scenario: Scenario, world: World, attempt: Attempt): MetersWorld {
  return (
    insertRange(scenario, world, attempt) ??
    completeBackfill(world.meters, attempt, scenario.mutation)
  );
}

/** Gives the attempt up. */
function dropAttempt(meters: MetersWorld, index: number): MetersWorld {
  return { ...meters, attempts: withoutItem(meters.attempts, index) };
}

function isLast(meters: MetersWorld, attempt: Attempt): boolean {
  return attempt.partitionsDone >= rangesOf(meters, attempt).length;
}

function backfill(scenario: Scenario, world: World, index: number): World | null {
  const attempt = world.meters.attempts[index];
  if (attempt === undefined) return null;
  const meters = advance(scenario, world, attempt);
  if (isLast(world.meters, attempt)) return { ...world, meters: dropAttempt(meters, index) };
  const further = { ...attempt, partitionsDone: attempt.partitionsDone + 1 };
  return { ...world, meters: { ...meters, attempts: withItem(meters.attempts, index, further) } };
}

/** The outcome of a statement is unknown: the attempt is given up (run-backfills.ts). */
function loseBackfill(world: World, index: number): World | null {
  const attempt = world.meters.attempts[index];
  if (attempt === undefined) return null;
  const kind = isLast(world.meters, attempt) ? 'complete' : 'insert';
  const late: LateBackfill = { kind, attempt };
  const meters = postponeBackfill(dropAttempt(world.meters, index), attempt);
  return { ...world, meters: { ...meters, late: [...meters.late, late] } };
}

function landBackfill(scenario: Scenario, world: World, generation: number): World | null {
  const { late } = world.meters;
  const index = late.findIndex(({ attempt }) => attempt.generation === generation);
  const landing = late[index];
  if (landing === undefined) return null;
  const meters = advance(scenario, world, landing.attempt);
  return { ...world, meters: { ...meters, late: withoutItem(late, index) } };
}

function applyToAttempt(
  scenario: Scenario,
  world: World,
  action: Extract<OnMeters, { readonly generation: number }>,
): World | null {
  const { meters } = world;
  if (action.kind === 'land_backfill') return landBackfill(scenario, world, action.generation);
  const index = meters.attempts.findIndex(({ generation }) => generation === action.generation);
  if (index < 0) return null;
  if (action.kind === 'backfill') return backfill(scenario, world, index);
  if (action.kind === 'lose_backfill') return loseBackfill(world, index);
  return { ...world, meters: dropAttempt(meters, index) };
}

/** Applies an action on meters: a change or a backfill. Null when it is not possible. */
export function applyToMeters(scenario: Scenario, world: World, action: OnMeters): World | null {
  const { meters } = world;
  switch (action.kind) {
    case 'activate': {
      const isLeft = meters.versions.length < scenario.plan.meters.length;
      return isLeft ? activateMeterVersion(scenario, world) : null;
    }
    case 'retire_unread':
      return { ...world, meters: retireUnread(meters) };
    case 'revert': {
      const reverted = revertMeter(meters, action.version);
      return reverted === null ? null : { ...world, meters: reverted };
    }
    case 'claim':
      if (!isClaimable(scenario, world, action.version)) return null;
      return { ...world, meters: claimBackfill(meters, action.version, scenario.mutation) };
    default:
      return applyToAttempt(scenario, world, action);
  }
}
