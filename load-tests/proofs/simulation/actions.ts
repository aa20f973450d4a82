import type { BatchTable } from '../../../aggregator/fold/batch-tables.js';
import type { Command } from '../../../aggregator/protocol/state.js';
import { insertToSend } from './inserts.js';
import type { Scenario } from './scenario.js';
import { erasuresOf, type ErasureAction } from './simulated-erasure.js';
import { isClaimable } from './simulated-postgres.js';
import type { LateWrite, PartitionWorld, Request, World } from './world.js';

type OfOwner = { readonly partition: number; readonly owner: number };

/** One thing that can happen, as plain data: a list of them can be replayed and shortened. */
export type Action =
  /** An owner performs the command of its machine and learns the outcome. */
  | ({ readonly kind: 'act' } & OfOwner)
  /** It reads this many records, or none, and the catalog of this version. */
  | ({ readonly kind: 'read'; readonly records: number; readonly version: number } & OfOwner)
  /** Its dependency fails without any effect. */
  | ({ readonly kind: 'fail' } & OfOwner)
  /** Its update is sent, and its connection is lost. */
  | ({ readonly kind: 'lose' } & OfOwner)
  /** A fenced owner starts again, with its filter. */
  | ({ readonly kind: 'again' } & OfOwner)
  /** Its process dies, and the next one takes the partition at once. */
  | ({ readonly kind: 'retake' } & OfOwner)
  /** A process dies and another one takes its place, in all partitions. */
  | { readonly kind: 'crash'; readonly owner: number }
  /** A process sends the inserts of several partitions, one for each table. */
  | { readonly kind: 'send'; readonly owner: number; readonly partitions: readonly number[] }
  /** It stops waiting for an insert. */
  | { readonly kind: 'give_up'; readonly owner: number; readonly request: string }
  /** The server refuses an insert that it has not begun, and this process hears of it. */
  | { readonly kind: 'refuse'; readonly owner: number; readonly request: string }
  /** The server goes on with an insert that this process waits for. */
  | { readonly kind: 'serve'; readonly owner: number; readonly request: string }
  /** The server goes on with an insert that nobody waits for. */
  | { readonly kind: 'serve_late'; readonly request: string }
  /** An update whose sender gave up reaches Postgres, or the gate. */
  | { readonly kind: 'land'; readonly partition: number; readonly write: string }
  | { readonly kind: 'append'; readonly partition: number; readonly records: number }
  | { readonly kind: 'make_row'; readonly partition: number }
  /** ClickHouse is killed. */
  | { readonly kind: 'kill' }
  /** Its machine loses power: parts that were not synced are gone. */
  | { readonly kind: 'power_loss' }
  | { readonly kind: 'activate' }
  /** Readers go back to an earlier version that still counts events. */
  | { readonly kind: 'revert'; readonly version: number }
  | { readonly kind: 'retire_unread' }
  | { readonly kind: 'claim'; readonly version: number }
  /** An attempt applies its meter to the next partition, or is completed after the last. */
  | { readonly kind: 'backfill'; readonly generation: number }
  | { readonly kind: 'lose_backfill'; readonly generation: number }
  | { readonly kind: 'abandon'; readonly generation: number }
  | { readonly kind: 'land_backfill'; readonly generation: number }
  | ErasureAction
  /** PostgreSQL is restored without its latest update of a row: a contradiction. */
  | { readonly kind: 'restore'; readonly partition: number }
  /** ClickHouse is restored without a part of the last batch: a contradiction. */
  | { readonly kind: 'lose_part'; readonly partition: number; readonly table: BatchTable };

export function requestName({ table, members, phase }: Request): string {
  const batches = members.map(
    ({ partition, epoch, part }) =>
      `${part.start}-${part.end} of partition ${partition} in epoch ${epoch}`,
  );
  return `${table} ${batches.join(' and ')} ${phase}`;
}

export function writeName(write: LateWrite): string {
  switch (write.kind) {
    case 'take':
      return 'take';
    case 'raise_gate':
      return `gate ${write.epoch}`;
    case 'intend':
      return `intend ${write.start}-${write.intent.end} v${write.intent.catalogVersion} of epoch ${write.epoch}`;
    case 'finish':
      return `finish ${write.start}-${write.end} of epoch ${write.epoch}`;
  }
}

/**
 * PostgreSQL may be restored without the latest update of a row, unless that was a take whose epoch
 * the gate does not have: then two owners would hold one epoch, and nothing would fence either.
 * Operators stop the aggregators before they restore.
 */
export function isRestorable({ row, rowBefore, gate }: PartitionWorld): boolean {
  if (row === null || rowBefore === null) return false;
  return row.epoch === rowBefore.epoch || gate >= row.epoch;
}

/** The action in one line. */
export function describeAction(action: Action): string {
  const { kind, ...facts } = action;
  const details = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  return [kind.padEnd(14), ...details].join('  ').trimEnd();
}

const READS: ReadonlySet<Command['kind']> = new Set(['fetch', 'refetch', 'load_catalog']);

/**
 * What an owner asks the stores after its drain. An owner that asks late is explored with one
 * partition; with several, it asks at once, since there would be too many worlds.
 */
const QUESTIONS: ReadonlySet<Command['kind']> = new Set([
  ...(['inspect', 'warm_filter', 'look_up', 'check_presence', 'reread'] as const),
]);

/**
 * Steps that change only their owner and depend on nothing that can still change. They are taken at
 * once, without a branch, since their order among other actions makes no difference.
 */
function isPrivate(scenario: Scenario, world: World, kind: Command['kind']): boolean {
  if (kind === 'remember') return true;
  if (scenario.plan.logs.length > 1 && QUESTIONS.has(kind)) return true;
  return READS.has(kind) && world.meters.versions.length === scenario.plan.meters.length;
}

/** The catalogs that a process may know which has read that one or a later one. */
function versionsFrom({ meters }: World, least: number): readonly number[] {
  return Array.from({ length: meters.version - least + 1 }, (_, index) => least + index);
}

function fetchesOf(
  scenario: Scenario,
  world: World,
  { command, ...at }: OfOwner & { readonly command: Extract<Command, { kind: 'fetch' }> },
): Action[] {
  const logEnd = world.partitions[at.partition]?.logEnd ?? 0;
  const most = Math.min(logEnd - command.from, scenario.plan.recordsMax);
  const versions = versionsFrom(world, command.catalogVersionMin);
  const actions: Action[] = [];
  for (let records = 1; records <= most; records += 1) {
    for (const version of versions) actions.push({ kind: 'read', ...at, records, version });
  }
  return actions;
}

function readsOf(scenario: Scenario, world: World, at: OfOwner): Action[] {
  const command = world.partitions[at.partition]?.owners[at.owner]?.step.command;
  if (command?.kind === 'refetch') {
    const needed = command.intent.end - command.from;
    return Array.from({ length: needed }, (_, short) => ({
      kind: 'read',
      ...at,
      records: needed - short,
      version: command.intent.catalogVersion,
    }));
  }
  if (command?.kind === 'load_catalog') {
    return versionsFrom(world, command.versionMin).map((version) => ({
      kind: 'read',
      ...at,
      records: 0,
      version,
    }));
  }
  return command?.kind === 'fetch' ? fetchesOf(scenario, world, { ...at, command }) : [];
}

function isEpochLeft({ plan }: Scenario, { partitions }: World, index: number): boolean {
  const row = partitions[index]?.row ?? null;
  return row !== null && row.epoch < (plan.epochsOf?.[index] ?? plan.limits.epochs);
}

const UPDATES: ReadonlySet<Command['kind']> = new Set(['intend', 'finish']);

/** What an owner with a command under way can do. */
function stepsOfOwner(scenario: Scenario, world: World, at: OfOwner): Action[] {
  const owner = world.partitions[at.partition]?.owners[at.owner];
  if (owner === undefined) return [];
  const { lostReplies } = world.budget;
  if (owner.inserting !== null) return [];
  const { kind } = owner.step.command;
  if (kind === 'step_down') return [{ kind: 'again', ...at }];
  if (kind === 'halt') return [];
  if (READS.has(kind)) return readsOf(scenario, world, at);
  const act: Action = { kind: 'act', ...at };
  return UPDATES.has(kind) && lostReplies > 0 ? [act, { kind: 'lose', ...at }] : [act];
}

/** A process that dies, and another that takes over, are one owner that takes again. */
function actionsOfOwner(scenario: Scenario, world: World, at: OfOwner): Action[] {
  const partition = world.partitions[at.partition];
  const phase = partition?.owners[at.owner]?.step.state.phase;
  if (partition === undefined || phase === undefined) return [];
  const canTake = isEpochLeft(scenario, world, at.partition);
  const canRetake = canTake && isProcessAtWork(world, at.owner);
  const retake: readonly Action[] = canRetake ? [{ kind: 'retake', ...at }] : [];
  if (phase === 'taking') return canTake ? [{ kind: 'act', ...at }, ...retake] : [];
  return [...stepsOfOwner(scenario, world, at), ...retake];
}

/** Whether a process has anything to lose but its filter. */
function isProcessAtWork({ partitions }: World, process: number): boolean {
  return partitions.some(({ owners }) => owners[process]?.step.state.phase !== 'taking');
}

/** What can happen to the inserts under way. */
function actionsOfRequests({ requests, budget }: World): Action[] {
  const actions: Action[] = [];
  const late = new Set<string>();
  for (const request of requests) {
    const { process: owner } = request;
    const name = requestName(request);
    if (owner === null) late.add(name);
    else actions.push({ kind: 'serve', owner, request: name });
    if (owner !== null && budget.timeouts > 0) {
      actions.push({ kind: 'give_up', owner, request: name });
    }
    if (owner !== null && budget.refusals > 0 && request.phase === 'sent') {
      actions.push({ kind: 'refuse', owner, request: name });
    }
  }
  for (const request of late) actions.push({ kind: 'serve_late', request });
  return actions;
}

/** The processes that can send the inserts of several partitions together. */
function sendsTogether({ plan }: Scenario, { partitions }: World): Action[] {
  if (partitions.length < 2) return [];
  return Array.from({ length: plan.owners }, (_, owner) => owner).flatMap((owner) => {
    const ready = partitions.flatMap(({ owners }, index) =>
      insertToSend(owners[owner]) === null ? [] : [index],
    );
    return ready.length < 2 ? [] : [{ kind: 'send' as const, owner, partitions: ready }];
  });
}

function actionsOfPartition(scenario: Scenario, world: World, index: number): Action[] {
  const partition = world.partitions[index];
  if (partition === undefined) return [];
  const actions = partition.owners.flatMap((_, owner) =>
    actionsOfOwner(scenario, world, { partition: index, owner }),
  );
  for (const write of new Set(partition.lateWrites.map(writeName))) {
    actions.push({ kind: 'land', partition: index, write });
  }
  if (partition.row === null) actions.push({ kind: 'make_row', partition: index });
  const canRestore = world.budget.restores > 0 && isRestorable(partition);
  if (canRestore) actions.push({ kind: 'restore', partition: index });
  return actions;
}

/** Versions that are no longer read, after a revert or a change that was given up. */
function changesBack({ meters }: World): Action[] {
  const idle = meters.versions.flatMap(({ isUnread, retiredIn }, version) =>
    isUnread && retiredIn === null ? [version] : [],
  );
  if (idle.length === 0) return [];
  return [
    ...idle.map((version): Action => ({ kind: 'revert', version })),
    { kind: 'retire_unread' },
  ];
}

function actionsOfMeters(scenario: Scenario, world: World): Action[] {
  const { versions, attempts, late } = world.meters;
  const actions: Action[] = [];
  if (versions.length < scenario.plan.meters.length) actions.push({ kind: 'activate' });
  versions.forEach((_, version) => {
    if (isClaimable(scenario, world, version)) actions.push({ kind: 'claim', version });
  });
  actions.push(...changesBack(world));
  for (const { generation } of attempts) {
    actions.push({ kind: 'backfill', generation });
    if (world.budget.timeouts > 0) actions.push({ kind: 'lose_backfill', generation });
  }
  for (const { attempt } of late) {
    actions.push({ kind: 'land_backfill', generation: attempt.generation });
  }
  return actions;
}

/** An owner whose next step changes nothing for the others; null when there is none. */
function privateActions(scenario: Scenario, world: World): Action[] | null {
  for (const [partition, { owners }] of world.partitions.entries()) {
    for (const [owner, { step }] of owners.entries()) {
      if (!isPrivate(scenario, world, step.command.kind)) continue;
      const at = { partition, owner };
      if (!READS.has(step.command.kind)) return [{ kind: 'act', ...at }];
      const reads = readsOf(scenario, world, at);
      if (reads.length > 0) return reads;
    }
  }
  return null;
}

/** Everything that can happen in a small world, for the exhaustive explorer. */
export function actionsOf(scenario: Scenario, world: World): readonly Action[] {
  const alone = privateActions(scenario, world);
  if (alone !== null) return alone;
  const actions = world.partitions.flatMap((_, index) =>
    actionsOfPartition(scenario, world, index),
  );
  actions.push(...sendsTogether(scenario, world), ...actionsOfRequests(world));
  actions.push(...actionsOfMeters(scenario, world), ...erasuresOf(world));
  if (world.requests.length > 0 && world.budget.kills > 0) actions.push({ kind: 'kill' });
  const isUnsynced = world.partitions.some(({ tables }) =>
    Object.values(tables).some((parts) => parts.some(({ isSynced }) => !isSynced)),
  );
  if (isUnsynced && world.budget.powerLosses > 0) actions.push({ kind: 'power_loss' });
  return actions;
}
