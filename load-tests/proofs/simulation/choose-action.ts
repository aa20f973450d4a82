import type { Command } from '../../../aggregator/protocol/state.js';
import { requestName, writeName, type Action } from './actions.js';
import type { Dangers } from './random-plan.js';
import type { Scenario } from './scenario.js';
import type { PartitionWorld, World } from './world.js';

function pick<T>(random: () => number, items: readonly T[]): T | undefined {
  return items[Math.floor(random() * items.length)];
}

/** What depends on the seed: random numbers, chances of failures, and which owners sleep. */
export type Choice = {
  readonly scenario: Scenario;
  readonly random: () => number;
  readonly dangers: Dangers;
  /** By partition and owner: the number of choices for which it still sleeps. */
  readonly sleeps: number[][];
};

const ENDS: ReadonlySet<Command['kind']> = new Set(['halt', 'step_down']);
const READS: ReadonlySet<Command['kind']> = new Set(['fetch', 'refetch', 'load_catalog']);
const UPDATES: ReadonlySet<Command['kind']> = new Set(['intend', 'finish', 'take', 'raise_gate']);

type OfOwner = { readonly partition: number; readonly owner: number };

function chooseRead({ random, scenario }: Choice, world: World, at: OfOwner): Action {
  const isShort = random() < 0.2;
  const { recordsMax } = scenario.plan;
  const command = world.partitions[at.partition]?.owners[at.owner]?.step.command;
  const needed = command?.kind === 'refetch' ? command.intent.end - command.from : recordsMax;
  const records = isShort ? Math.floor(random() * needed) : needed;
  const isPolledLate = random() < 0.3;
  const version = isPolledLate ? 1 : world.meters.version;
  return { kind: 'read', ...at, records, version };
}

function isAsleep({ random, dangers, sleeps }: Choice, at: OfOwner): boolean {
  const ofPartition = sleeps[at.partition] ?? [];
  const left = ofPartition[at.owner] ?? 0;
  if (left > 0) ofPartition[at.owner] = left - 1;
  else if (random() < dangers.pause) ofPartition[at.owner] = Math.floor(random() * 60);
  return left > 0;
}

/**
 * An owner that was fenced or halted pauses; without the pause owners would only fence each other.
 */
function chooseReturn({ random }: Choice, at: OfOwner, isFenced: boolean): Action | null {
  if (random() >= 0.05) return null;
  return { kind: isFenced && random() < 0.5 ? 'again' : 'crash', ...at };
}

/** How the command of an owner may go wrong. */
function chooseStep(
  choice: Choice,
  world: World,
  doing: OfOwner & { readonly kind: Command['kind'] },
): Action | null {
  const { random, dangers } = choice;
  const { kind, ...at } = doing;
  if (ENDS.has(kind)) return chooseReturn(choice, at, kind === 'step_down');
  if (random() < dangers.fail) return { kind: 'fail', ...at };
  if (READS.has(kind)) return chooseRead(choice, world, at);
  const isLost = UPDATES.has(kind) && random() < dangers.lose;
  return { kind: isLost ? 'lose' : 'act', ...at };
}

function chooseOfOwner(choice: Choice, world: World, at: OfOwner): Action | null {
  const { random, dangers } = choice;
  const owner = world.partitions[at.partition]?.owners[at.owner];
  if (owner === undefined || isAsleep(choice, at)) return null;
  if (random() < dangers.crash) return { kind: 'crash', ...at };
  if (owner.request !== null) {
    return { kind: random() < dangers.giveUp ? 'give_up' : 'serve', ...at };
  }
  return chooseStep(choice, world, { kind: owner.step.command.kind, ...at });
}

function chooseLate(random: () => number, partition: PartitionWorld, index: number): Action | null {
  if (random() < 0.5) {
    const request = pick(random, partition.orphans);
    if (request === undefined) return null;
    return { kind: 'serve_late', partition: index, request: requestName(request) };
  }
  const write = pick(random, partition.lateWrites);
  return write === undefined ? null : { kind: 'land', partition: index, write: writeName(write) };
}

function chooseOfPartition(choice: Choice, world: World): Action | null {
  const { random, scenario } = choice;
  const index = Math.floor(random() * world.partitions.length);
  const partition = world.partitions[index];
  if (partition === undefined) return null;
  if (partition.row === null && random() < 0.1) return { kind: 'make_row', partition: index };
  const draw = random();
  if (draw < 0.12) return chooseLate(random, partition, index);
  if (draw < 0.15) return { kind: 'append', partition: index, records: 1 + (draw < 0.13 ? 1 : 0) };
  const owner = Math.floor(random() * scenario.plan.owners);
  return chooseOfOwner(choice, world, { partition: index, owner });
}

function chooseOfMeters({ random, dangers }: Choice, { meters }: World): Action | null {
  const draw = random();
  if (draw < 0.08) return { kind: 'activate' };
  if (draw < 0.12) {
    return random() < 0.3
      ? { kind: 'retire_unread' }
      : { kind: 'revert', version: Math.floor(random() * meters.versions.length) };
  }
  if (draw < 0.38) {
    return { kind: 'claim', version: Math.floor(random() * meters.versions.length) };
  }
  const late = pick(random, meters.late);
  if (draw < 0.48 && late !== undefined) {
    return { kind: 'land_backfill', generation: late.attempt.generation };
  }
  const attempt = pick(random, meters.attempts);
  if (attempt === undefined) return null;
  const { generation } = attempt;
  if (random() < dangers.crash) return { kind: 'abandon', generation };
  return { kind: random() < dangers.lose ? 'lose_backfill' : 'backfill', generation };
}

function chooseDisaster({ random, scenario }: Choice, world: World): Action {
  const { limits } = scenario.plan;
  const partition = Math.floor(random() * world.partitions.length);
  if (limits.restores > 0) return { kind: 'restore', partition };
  if (limits.lostParts > 0) {
    const table = pick(random, ['events', 'ids', 'usage'] as const) ?? 'events';
    return { kind: 'lose_part', partition, table };
  }
  const isPowerLost = limits.powerLosses > 0 && random() < 0.5;
  return { kind: isPowerLost ? 'power_loss' : 'kill' };
}

/** The next action; null when the chosen one is not possible. */
export function chooseAction(choice: Choice, world: World): Action | null {
  const { random, dangers } = choice;
  const draw = random();
  if (draw < dangers.server) return chooseDisaster(choice, world);
  if (draw < dangers.server + dangers.meters) return chooseOfMeters(choice, world);
  return chooseOfPartition(choice, world);
}
