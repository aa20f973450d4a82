import { isRestorable, requestName, writeName, type Action } from './actions.js';
import { crash, drain, endAll, giveUp, refuse, sendInserts, serve } from './inserts.js';
import { read } from './owner-reads.js';
import { act, again, applyWrite, loseReply, tell, type Around } from './owner-steps.js';
import type { Scenario } from './scenario.js';
import { applyToMeters } from './simulated-backfill.js';
import { loseUnsynced, syncAll } from './simulated-clickhouse.js';
import { applyErasure } from './simulated-erasure.js';
import { activateMeterVersion, ensureCheckpoint } from './simulated-postgres.js';
import {
  emptyWorld,
  withItem,
  withoutItem,
  type Budget,
  type Owner,
  type PartitionWorld,
  type Request,
  type World,
} from './world.js';

type OnPartition = Extract<Action, { readonly partition: number }>;
type OnRequest = Extract<Action, { readonly request: string }>;

function land(around: Around, partition: PartitionWorld, name: string): PartitionWorld | null {
  const index = partition.lateWrites.findIndex((write) => writeName(write) === name);
  const write = partition.lateWrites[index];
  if (write === undefined) return null;
  const lateWrites = withoutItem(partition.lateWrites, index);
  return { ...(applyWrite(around.scenario, partition, write) ?? partition), lateWrites };
}

/** A backup is restored. No process is active then, since only a take notices missing rows. */
function losePart(
  partition: PartitionWorld,
  { table }: Extract<Action, { readonly kind: 'lose_part' }>,
): PartitionWorld | null {
  const { row, tables } = partition;
  if (row === null || row.lastBatch === null) return null;
  const { start } = row.lastBatch;
  const kept = tables[table].filter((part) => part.start !== start);
  if (kept.length === tables[table].length) return null;
  return { ...partition, tables: { ...tables, [table]: kept } };
}

function restore(partition: PartitionWorld): PartitionWorld | null {
  if (!isRestorable(partition)) return null;
  return { ...partition, row: partition.rowBefore, rowBefore: null };
}

/**
 * Whether a command of the owner can fail now. While it waits for inserts, these are what can fail;
 * and one that has ended has no command left.
 */
function canFail(owner: Owner | undefined): boolean {
  if (owner === undefined || owner.inserting !== null) return false;
  const { kind } = owner.step.command;
  return kind !== 'halt' && kind !== 'step_down';
}

// One case for each action; the compiler checks that none is missing.
// eslint-disable-next-line complexity
function onPartition(
  around: Around,
  partition: PartitionWorld,
  action: OnPartition,
): PartitionWorld | null {
  switch (action.kind) {
    case 'act':
      return act(around, partition, action.owner);
    case 'read':
      return read(around, partition, action);
    case 'fail':
      if (!canFail(partition.owners[action.owner])) return null;
      return tell(around, partition, { owner: action.owner, outcome: { kind: 'unknown' } });
    case 'lose':
      return loseReply(around, partition, action.owner);
    case 'again':
      return again(partition, action.owner);
    case 'retake':
      return act(around, partition, action.owner);
    case 'land':
      return land(around, partition, action.write);
    case 'append': {
      const end = Math.min(around.facts.records.length, partition.logEnd + action.records);
      return end === partition.logEnd ? null : { ...partition, logEnd: end };
    }
    case 'make_row':
      if (partition.row !== null) return null;
      return { ...partition, row: ensureCheckpoint(around.meters, around.scenario.mutation) };
    case 'restore':
      return restore(partition);
    case 'lose_part':
      return losePart(partition, action);
    case 'erase':
    case 'remove_erased':
      return applyErasure(around.scenario, partition, { action, facts: around.facts });
  }
}

/**
 * Drops requests that can have no effect any more: gates, epochs and offsets only rise, so a
 * request that is refused now is always refused. Not where a mutation or a restore breaks that.
 */
function tidy({ plan, mutation }: Scenario, world: World): World {
  if (mutation !== null || plan.limits.restores > 0) return world;
  const { partitions } = world;
  const tidied = partitions.some(({ lateWrites }) => lateWrites.length > 0)
    ? partitions.map(tidyWrites)
    : partitions;
  return { ...world, partitions: tidied, requests: withoutRefused(world) };
}

function tidyWrites(partition: PartitionWorld): PartitionWorld {
  const { lateWrites, row, gate } = partition;
  if (lateWrites.length === 0 || row === null) return partition;
  const writes = lateWrites.filter((write) => {
    if (write.kind === 'take') return true;
    if (write.kind === 'raise_gate') return write.epoch > gate;
    return write.epoch === row.epoch && write.start === row.nextOffset;
  });
  return writes.length === lateWrites.length ? partition : { ...partition, lateWrites: writes };
}

/** Inserts that nobody waits for and that the gate will always refuse. */
function withoutRefused({ partitions, requests }: World): readonly Request[] {
  if (requests.length === 0) return requests;
  const isOpen = ({ phase, process, members }: Request): boolean =>
    phase !== 'sent' ||
    process !== null ||
    members.every(({ partition, epoch }) => epoch >= (partitions[partition]?.gate ?? 0));
  return requests.every(isOpen) ? requests : requests.filter(isOpen);
}

/** The server ends with all its inserts; owners that waited for them have unknown outcomes. */
function stopServer(scenario: Scenario, world: World, isPowerLost: boolean): World {
  const partitions = world.partitions.map(isPowerLost ? loseUnsynced : syncAll);
  return endAll(scenario, { ...world, partitions });
}

const COSTS: Readonly<Partial<Record<Action['kind'], keyof Budget>>> = {
  give_up: 'timeouts',
  refuse: 'refusals',
  lose: 'lostReplies',
  lose_backfill: 'timeouts',
  kill: 'kills',
  power_loss: 'powerLosses',
  restore: 'restores',
  lose_part: 'lostParts',
  erase: 'erasures',
};

function pay(world: World, kind: Action['kind']): World | null {
  const cost = COSTS[kind];
  if (cost === undefined) return world;
  const left = world.budget[cost];
  return left > 0 ? { ...world, budget: { ...world.budget, [cost]: left - 1 } } : null;
}

function onRequest(scenario: Scenario, world: World, action: OnRequest): World | null {
  const process = action.kind === 'serve_late' ? null : action.owner;
  const request = world.requests.find(
    (one) => one.process === process && requestName(one) === action.request,
  );
  if (request === undefined) return null;
  if (action.kind === 'refuse') return refuse(scenario, world, request);
  return action.kind === 'give_up'
    ? giveUp(scenario, world, request)
    : serve(scenario, world, request);
}

function applyToPartition(scenario: Scenario, world: World, action: OnPartition): World | null {
  const { partition: index } = action;
  const partition = world.partitions[index];
  const facts = scenario.partitions[index];
  if (partition === undefined || facts === undefined) return null;
  const next = onPartition({ scenario, index, facts, meters: world.meters }, partition, action);
  if (next === null || next === partition) return null;
  return { ...world, partitions: withItem(world.partitions, index, next) };
}

/** An owner performs its command; only inserts and a drain concern other partitions as well. */
function actOnStores(
  scenario: Scenario,
  world: World,
  action: Extract<Action, { readonly kind: 'act' }>,
): World | null {
  const { partition, owner } = action;
  const kind = world.partitions[partition]?.owners[owner]?.step.command.kind;
  if (kind === 'insert') {
    return sendInserts(scenario, world, { process: owner, partitions: [partition] });
  }
  const drained = kind === 'drain' ? drain(scenario, world, partition) : world;
  return applyToPartition(scenario, drained, action);
}

/** What happens to one partition, and with it to processes and inserts. */
function inPartition(scenario: Scenario, world: World, action: OnPartition): World | null {
  switch (action.kind) {
    case 'act':
      return actOnStores(scenario, world, action);
    case 'retake':
      return applyToPartition(scenario, crash(world, action.owner), action);
    case 'lose_part': {
      const restored = applyToPartition(scenario, world, action);
      if (restored === null) return null;
      const processes = Array.from({ length: scenario.plan.owners }, (_, process) => process);
      return { ...processes.reduce(crash, restored), requests: [] };
    }
    default:
      return applyToPartition(scenario, world, action);
  }
}

function applyPaid(scenario: Scenario, world: World, action: Action): World | null {
  switch (action.kind) {
    case 'kill':
      return stopServer(scenario, world, false);
    case 'power_loss':
      return stopServer(scenario, world, true);
    case 'crash':
      return crash(world, action.owner);
    case 'send':
      return sendInserts(scenario, world, { process: action.owner, partitions: action.partitions });
    case 'serve':
    case 'serve_late':
    case 'give_up':
    case 'refuse':
      return onRequest(scenario, world, action);
    default:
      return 'partition' in action
        ? inPartition(scenario, world, action)
        : applyToMeters(scenario, world, action);
  }
}

/**
 * The world after an action; null when it cannot happen in this world. No world is ever changed.
 */
export function applyAction(scenario: Scenario, world: World, action: Action): World | null {
  const paid = pay(world, action.kind);
  const next = paid === null ? null : applyPaid(scenario, paid, action);
  return next === null ? null : tidy(scenario, next);
}

/** The world at the beginning, with the first meters active. */
export function startWorld(scenario: Scenario): World {
  let world = emptyWorld(scenario);
  for (let count = 0; count < scenario.plan.metersAtStart; count += 1) {
    world = activateMeterVersion(scenario, world);
  }
  return world;
}
