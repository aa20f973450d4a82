import type { Command } from '../../../aggregator/protocol/state.js';
import { requestName, writeName, type Action } from './actions.js';
import { insertToSend } from './inserts.js';
import type { Dangers } from './random-plan.js';
import type { Scenario } from './scenario.js';
import type { Request, World } from './world.js';

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
  /** What lasts for a while; each number counts down the choices. */
  readonly spells: {
    /** Only this partition has a turn. */
    partition: number;
    alone: number;
    /** No insert goes on. */
    stalled: number;
  };
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
function chooseReturn({ random, dangers }: Choice, at: OfOwner, isFenced: boolean): Action | null {
  if (random() >= dangers.rivalry) return null;
  return isFenced && random() < 0.9 ? { kind: 'again', ...at } : { kind: 'crash', owner: at.owner };
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

function hasMember({ members }: Request, index: number): boolean {
  return members.some(({ partition }) => partition === index);
}

/** One of the inserts that the owner waits for. */
function chooseServed(choice: Choice, world: World, at: OfOwner): Action | null {
  const { random, dangers } = choice;
  const { owner, partition } = at;
  const waits = world.requests.filter(
    (request) => request.process === owner && hasMember(request, partition),
  );
  const request = pick(random, waits);
  if (request === undefined) return null;
  const draw = random();
  // The other end of one draw, so that worlds without refusals stay as they are.
  const isRefused = draw > 1 - dangers.giveUp / 4 && request.phase === 'sent';
  const kind = draw < dangers.giveUp ? 'give_up' : isRefused ? 'refuse' : 'serve';
  if (kind === 'serve' && choice.spells.stalled > 0) return null;
  return { kind, owner, request: requestName(request) };
}

/** Inserts of several partitions; while no other has any, the process waits for one that has. */
function chooseTogether({ random }: Choice, { partitions }: World, at: OfOwner): Action | null {
  const { owner } = at;
  const ready = partitions.flatMap(({ owners }, index) =>
    insertToSend(owners[owner]) === null ? [] : [index],
  );
  const isChosen = (index: number): boolean => index === at.partition || random() < 0.8;
  const chosen = ready.filter(isChosen);
  return chosen.length < 2 ? null : { kind: 'send', owner, partitions: chosen };
}

function chooseOfOwner(choice: Choice, world: World, at: OfOwner): Action | null {
  const { random, dangers } = choice;
  const owner = world.partitions[at.partition]?.owners[at.owner];
  if (owner === undefined || isAsleep(choice, at)) return null;
  if (random() < dangers.crash) return { kind: 'crash', owner: at.owner };
  if (owner.inserting !== null) return chooseServed(choice, world, at);
  const { kind } = owner.step.command;
  if (kind === 'insert' && random() < dangers.together) return chooseTogether(choice, world, at);
  return chooseStep(choice, world, { kind, ...at });
}

function chooseLate(choice: Choice, world: World, index: number): Action | null {
  const { random, spells } = choice;
  const partition = world.partitions[index];
  if (partition === undefined) return null;
  if (random() < 0.5) {
    if (spells.stalled > 0) return null;
    const late = world.requests.filter(
      (request) => request.process === null && hasMember(request, index),
    );
    const request = pick(random, late);
    return request === undefined ? null : { kind: 'serve_late', request: requestName(request) };
  }
  const write = pick(random, partition.lateWrites);
  return write === undefined ? null : { kind: 'land', partition: index, write: writeName(write) };
}

/** Any partition; now and then the same one for many choices, so that it runs far ahead. */
function choosePartition({ random, dangers, spells }: Choice, { partitions }: World): number {
  if (spells.alone > 0) {
    spells.alone -= 1;
    return spells.partition;
  }
  const partition = Math.floor(random() * partitions.length);
  if (random() < dangers.pause) {
    spells.partition = partition;
    spells.alone = Math.floor(random() * 80);
  }
  return partition;
}

function chooseOfPartition(choice: Choice, world: World): Action | null {
  const { random, scenario } = choice;
  const index = choosePartition(choice, world);
  const partition = world.partitions[index];
  if (partition === undefined) return null;
  if (partition.row === null && random() < 0.1) return { kind: 'make_row', partition: index };
  const draw = random();
  // The worst moment for an intent that arrives late.
  if (draw < 0.3 && isCatalogLoaded(world)) return chooseLate(choice, world, index);
  if (draw < 0.12) return chooseLate(choice, world, index);
  if (draw < 0.15) return { kind: 'append', partition: index, records: 1 + (draw < 0.13 ? 1 : 0) };
  const owner = Math.floor(random() * scenario.plan.owners);
  return chooseOfOwner(choice, world, { partition: index, owner });
}

/** Whether a batch was refused and is about to be folded with a newer catalog. */
function isCatalogLoaded({ partitions }: World): boolean {
  return partitions.some(({ owners }) =>
    owners.some(({ step }) => step.state.phase === 'loading_catalog'),
  );
}

/** Stored events are noted to be erased, or go. */
function chooseErasure({ random }: Choice, world: World): Action {
  const partition = Math.floor(random() * world.partitions.length);
  return random() < 0.4
    ? { kind: 'erase', partition, every: random() < 0.5 ? 1 : 2 }
    : { kind: 'remove_erased', partition };
}

function chooseOfMeters(choice: Choice, world: World): Action | null {
  const isErased = choice.scenario.plan.limits.erasures > 0;
  if (isErased && choice.random() < 0.5) return chooseErasure(choice, world);
  // The worst moment for another change.
  if (isCatalogLoaded(world) && choice.random() < 0.5) return { kind: 'activate' };
  return chooseChangeOrBackfill(choice, world);
}

function chooseChangeOrBackfill({ random, dangers }: Choice, { meters }: World): Action | null {
  const draw = random();
  if (draw < 0.08) return { kind: 'activate' };
  if (draw < 0.18) {
    return random() < 0.5
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
  const { random, dangers, spells } = choice;
  if (spells.stalled > 0) spells.stalled -= 1;
  else if (random() < dangers.stall) spells.stalled = Math.floor(random() * 80);
  const draw = random();
  if (draw < dangers.server) return chooseDisaster(choice, world);
  if (draw < dangers.server + dangers.meters) return chooseOfMeters(choice, world);
  return chooseOfPartition(choice, world);
}
