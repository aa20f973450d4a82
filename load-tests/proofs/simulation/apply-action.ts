import { isRestorable, requestName, writeName, type Action } from './actions.js';
import { read } from './owner-reads.js';
import {
  act,
  again,
  applyWrite,
  crash,
  giveUp,
  loseReply,
  tell,
  type Around,
} from './owner-steps.js';
import type { Scenario } from './scenario.js';
import { applyToMeters } from './simulated-backfill.js';
import { loseUnsynced, serveRequest, syncAll } from './simulated-clickhouse.js';
import { activateMeterVersion, ensureCheckpoint } from './simulated-postgres.js';
import {
  emptyWorld,
  FRESH_OWNER,
  withItem,
  withoutItem,
  type Budget,
  type PartitionWorld,
  type Request,
  type World,
} from './world.js';

type OnPartition = Extract<Action, { readonly partition: number }>;

function serve(around: Around, partition: PartitionWorld, owner: number): PartitionWorld | null {
  const request = partition.owners[owner]?.request ?? null;
  if (request === null) return null;
  const served = serveRequest(around.scenario, partition, request);
  if (served.kind === 'fenced') return tell(around, partition, { owner, outcome: served });
  if (served.kind === 'done') {
    return tell(around, served.partition, { owner, outcome: { kind: 'inserted' } });
  }
  const waiting = served.partition.owners[owner];
  if (waiting === undefined) return null;
  const owners = withItem(partition.owners, owner, { ...waiting, request: served.request });
  return { ...served.partition, owners };
}

function serveLate(around: Around, partition: PartitionWorld, name: string): PartitionWorld | null {
  const index = partition.orphans.findIndex((request) => requestName(request) === name);
  const request = partition.orphans[index];
  if (request === undefined) return null;
  const served = serveRequest(around.scenario, partition, request);
  if (served.kind === 'goes_on') {
    return { ...served.partition, orphans: withItem(partition.orphans, index, served.request) };
  }
  const orphans = withoutItem(partition.orphans, index);
  return { ...(served.kind === 'done' ? served.partition : partition), orphans };
}

function land(around: Around, partition: PartitionWorld, name: string): PartitionWorld | null {
  const index = partition.lateWrites.findIndex((write) => writeName(write) === name);
  const write = partition.lateWrites[index];
  if (write === undefined) return null;
  const lateWrites = withoutItem(partition.lateWrites, index);
  return { ...(applyWrite(around.scenario, partition, write) ?? partition), lateWrites };
}

/** A backup is restored. No owner is active then, since only a take notices missing rows. */
function losePart(
  partition: PartitionWorld,
  { table }: Extract<Action, { readonly kind: 'lose_part' }>,
): PartitionWorld | null {
  const { row, tables } = partition;
  if (row === null || row.lastBatch === null) return null;
  const { start } = row.lastBatch;
  const kept = tables[table].filter((part) => part.start !== start);
  if (kept.length === tables[table].length) return null;
  const owners = partition.owners.map(() => FRESH_OWNER);
  return { ...partition, tables: { ...tables, [table]: kept }, owners, orphans: [] };
}

function restore(partition: PartitionWorld): PartitionWorld | null {
  if (!isRestorable(partition)) return null;
  return { ...partition, row: partition.rowBefore, rowBefore: null };
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
      if ((partition.owners[action.owner]?.request ?? null) !== null) return null;
      return tell(around, partition, { owner: action.owner, outcome: { kind: 'unknown' } });
    case 'lose':
      return loseReply(around, partition, action.owner);
    case 'give_up':
      return giveUp(around, partition, action.owner);
    case 'again':
      return again(partition, action.owner);
    case 'crash':
      return crash(partition, action.owner);
    case 'retake':
      return act(around, crash(partition, action.owner), action.owner);
    case 'serve':
      return serve(around, partition, action.owner);
    case 'serve_late':
      return serveLate(around, partition, action.request);
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
  }
}

/**
 * Drops requests that can have no effect any more: gates, epochs and offsets only rise, so a
 * request that is refused now is always refused. Not where a mutation or a restore breaks that.
 */
function tidy({ plan, mutation }: Scenario, partition: PartitionWorld): PartitionWorld {
  const { orphans, lateWrites, row, gate } = partition;
  if ((orphans.length === 0 && lateWrites.length === 0) || row === null) return partition;
  if (mutation !== null || plan.limits.restores > 0) return partition;
  const isOpen = ({ phase, epoch }: Request): boolean => phase !== 'sent' || epoch >= gate;
  const writes = lateWrites.filter((write) => {
    if (write.kind === 'take') return true;
    if (write.kind === 'raise_gate') return write.epoch > gate;
    return write.epoch === row.epoch && write.start === row.nextOffset;
  });
  if (writes.length === lateWrites.length && orphans.every(isOpen)) return partition;
  return { ...partition, orphans: orphans.filter(isOpen), lateWrites: writes };
}

/** The server ends with all its requests; an owner that waited for one has an unknown outcome. */
function stopServer(scenario: Scenario, world: World, isPowerLost: boolean): World {
  return {
    ...world,
    partitions: world.partitions.map((partition, index) => {
      const facts = scenario.partitions[index];
      if (facts === undefined) return partition;
      const around = { scenario, index, facts, meters: world.meters };
      let next: PartitionWorld = isPowerLost ? loseUnsynced(partition) : syncAll(partition);
      next = { ...next, orphans: [] };
      for (const [owner, { request }] of partition.owners.entries()) {
        if (request !== null) next = tell(around, next, { owner, outcome: { kind: 'unknown' } });
      }
      return next;
    }),
  };
}

const COSTS: Readonly<Partial<Record<Action['kind'], keyof Budget>>> = {
  give_up: 'timeouts',
  lose: 'lostReplies',
  lose_backfill: 'timeouts',
  kill: 'kills',
  power_loss: 'powerLosses',
  restore: 'restores',
  lose_part: 'lostParts',
};

function pay(world: World, kind: Action['kind']): World | null {
  const cost = COSTS[kind];
  if (cost === undefined) return world;
  const left = world.budget[cost];
  return left > 0 ? { ...world, budget: { ...world.budget, [cost]: left - 1 } } : null;
}

function applyPaid(scenario: Scenario, world: World, action: Action): World | null {
  if (action.kind === 'kill') return stopServer(scenario, world, false);
  if (action.kind === 'power_loss') return stopServer(scenario, world, true);
  if (!('partition' in action)) return applyToMeters(scenario, world, action);
  const partition = world.partitions[action.partition];
  const facts = scenario.partitions[action.partition];
  if (partition === undefined || facts === undefined) return null;
  const around = { scenario, index: action.partition, facts, meters: world.meters };
  const next = onPartition(around, partition, action);
  if (next === null || next === partition) return null;
  const partitions = withItem(world.partitions, action.partition, tidy(scenario, next));
  return { ...world, partitions };
}

/**
 * The world after an action; null when it cannot happen in this world. No world is ever changed.
 */
export function applyAction(scenario: Scenario, world: World, action: Action): World | null {
  const paid = pay(world, action.kind);
  return paid === null ? null : applyPaid(scenario, paid, action);
}

/** The world at the beginning, with the first meters active. */
export function startWorld(scenario: Scenario): World {
  let world = emptyWorld(scenario);
  for (let count = 0; count < scenario.plan.metersAtStart; count += 1) {
    world = activateMeterVersion(scenario, world);
  }
  return world;
}
