import type { BatchTable } from '../../../aggregator/fold/batch-tables.js';
import type { OutcomeOf } from '../../../aggregator/protocol/expected-outcomes.js';
import type { Command } from '../../../aggregator/protocol/state.js';
import { withOwner, tell } from './owner-steps.js';
import type { Scenario } from './scenario.js';
import { completeInsert, partOf, serveRequest } from './simulated-clickhouse.js';
import {
  FRESH_OWNER,
  withItem,
  withoutItem,
  type Inserting,
  type InsertOutcome,
  type Owner,
  type PartitionWorld,
  type Request,
  type RequestMember,
  type World,
} from './world.js';

/** The inserts of a process: sent together, served and ended each by itself. */

/** The command of an owner that has inserts to send; null when it has none, or waits for them. */
export function insertToSend(
  owner: Owner | undefined,
): Extract<Command, { readonly kind: 'insert' }> | null {
  const command = owner?.step.command;
  return owner?.inserting === null && command?.kind === 'insert' ? command : null;
}

type OfProcess = { readonly process: number; readonly partitions: readonly number[] };

type Sender = {
  readonly partition: number;
  readonly command: Extract<Command, { readonly kind: 'insert' }>;
};

function sendersOf(world: World, { process, partitions }: OfProcess): readonly Sender[] {
  return partitions.flatMap((partition) => {
    const command = insertToSend(world.partitions[partition]?.owners[process]);
    return command === null ? [] : [{ partition, command }];
  });
}

function requestOf(
  scenario: Scenario,
  senders: readonly Sender[],
  at: { readonly process: number; readonly table: BatchTable },
): Request {
  const { table, process } = at;
  const members = senders.flatMap(({ partition, command }): RequestMember[] => {
    const facts = scenario.partitions[partition];
    if (facts === undefined || !command.tables.includes(table)) return [];
    const { epoch, batch } = command;
    return [{ partition, epoch, part: partOf(facts, batch, table) }];
  });
  return { table, members, phase: 'sent', process };
}

/**
 * A process sends the inserts of these of its partitions: one for each table, which writes the rows
 * of all of them that have any. Null unless all of them have inserts to send.
 */
export function sendInserts(scenario: Scenario, world: World, at: OfProcess): World | null {
  const { process } = at;
  const senders = sendersOf(world, at);
  if (senders.length === 0 || senders.length < at.partitions.length) return null;
  const tables = new Set(senders.flatMap(({ command }) => command.tables));
  const sent = [...tables].map((table) => requestOf(scenario, senders, { table, process }));
  let { partitions } = world;
  for (const { partition: index, command } of senders) {
    const partition = partitions[index];
    const owner = partition?.owners[process];
    if (partition === undefined || owner === undefined) continue;
    const inserting: Inserting = { tables: command.tables, outcome: 'inserted', refused: [] };
    const next = withOwner(partition, process, { ...owner, inserting });
    partitions = withItem(partitions, index, next);
  }
  return { ...world, partitions, requests: [...world.requests, ...sent] };
}

const SEVERITY: Readonly<Record<InsertOutcome, number>> = {
  inserted: 0,
  not_written: 1,
  fenced: 2,
  unknown: 3,
};

function worseOf(one: InsertOutcome, other: InsertOutcome): InsertOutcome {
  return SEVERITY[one] >= SEVERITY[other] ? one : other;
}

type Ended = {
  readonly process: number;
  readonly request: Request;
  readonly member: RequestMember;
  readonly outcome: InsertOutcome;
};

/** Whether the owner waits for this insert. */
function isAwaited({ step, inserting }: Owner, { request, member }: Ended): boolean {
  const { state } = step;
  if (inserting === null || state.phase !== 'inserting') return false;
  return state.checkpoint.epoch === member.epoch && inserting.tables.includes(request.table);
}

/** What an owner waits for once one of its inserts has ended. */
function waitingAfter(inserting: Inserting, { request, outcome }: Ended): Inserting {
  const { table } = request;
  const { refused } = inserting;
  return {
    tables: inserting.tables.filter((other) => other !== table),
    outcome: worseOf(inserting.outcome, outcome),
    refused: outcome === 'not_written' ? [...refused, table] : refused,
  };
}

function toldOutcome({ outcome, refused }: Inserting): OutcomeOf<'insert'> {
  return outcome === 'not_written' ? { kind: outcome, tables: refused } : { kind: outcome };
}

/** One insert of an owner has ended. The machine is told when all have. */
function hear(scenario: Scenario, partition: PartitionWorld, ended: Ended): PartitionWorld {
  const { process, request, member } = ended;
  const { mutation } = scenario;
  const owner = partition.owners[process];
  if (owner === undefined || owner.inserting === null || !isAwaited(owner, ended)) return partition;
  const inserting = waitingAfter(owner.inserting, ended);
  const { tables, outcome } = inserting;
  const isEarly = mutation === 'first_answer_counts' && outcome === 'inserted';
  if (tables.length > 0 && !isEarly) {
    return withOwner(partition, process, { ...owner, inserting });
  }
  const isSentAgain = outcome === 'unknown' && request.members.length > 1;
  if (mutation === 'group_sent_again' && isSentAgain) {
    return withOwner(partition, process, { ...owner, inserting: null });
  }
  const around = { scenario, index: member.partition };
  return tell(around, partition, { owner: process, outcome: toldOutcome(inserting) });
}

/** Tells the owners that wait for an insert how it ended. */
function announce(
  scenario: Scenario,
  world: World,
  { request, outcome }: { readonly request: Request; readonly outcome: InsertOutcome },
): World {
  const { process } = request;
  if (process === null) return world;
  const partitions = world.partitions.slice();
  for (const member of request.members) {
    const partition = partitions[member.partition];
    if (partition === undefined) continue;
    const ended = { process, request, member, outcome };
    partitions[member.partition] = hear(scenario, partition, ended);
  }
  return { ...world, partitions };
}

/**
 * The outcome of an insert that the gate refused. An insert of several partitions does not say
 * which of them has another owner, so each is taken again.
 */
function refusalOf({ mutation }: Scenario, { members }: Request): InsertOutcome {
  const isSure = members.length === 1 || mutation === 'refused_group_fenced';
  return isSure ? 'fenced' : 'unknown';
}

/** The server goes on with an insert. */
export function serve(scenario: Scenario, world: World, request: Request): World | null {
  const index = world.requests.indexOf(request);
  if (index < 0) return null;
  const served = serveRequest(scenario, world, request);
  if (served.kind === 'goes_on') {
    return { ...served.world, requests: withItem(world.requests, index, served.request) };
  }
  const isDone = served.kind === 'done';
  const next = { ...(isDone ? served.world : world), requests: withoutItem(world.requests, index) };
  const outcome = isDone ? 'inserted' : refusalOf(scenario, request);
  return announce(scenario, next, { request, outcome });
}

/** The server refuses an insert that it has not begun, as one that would make too many parts. */
export function refuse(scenario: Scenario, world: World, request: Request): World | null {
  const index = world.requests.indexOf(request);
  if (index < 0 || request.phase !== 'sent') return null;
  const requests = withoutItem(world.requests, index);
  return announce(scenario, { ...world, requests }, { request, outcome: 'not_written' });
}

/** The process stops waiting for an insert, which may still take effect. */
export function giveUp(scenario: Scenario, world: World, request: Request): World | null {
  const index = world.requests.indexOf(request);
  if (index < 0 || request.process === null) return null;
  const requests = withItem(world.requests, index, { ...request, process: null });
  return announce(scenario, { ...world, requests }, { request, outcome: 'unknown' });
}

/** A process loses everything that it had in memory, for all its partitions. */
export function crash(world: World, process: number): World {
  return {
    ...world,
    partitions: world.partitions.map((partition) => withOwner(partition, process, FRESH_OWNER)),
    requests: world.requests.map((request) =>
      request.process === process ? { ...request, process: null } : request,
    ),
  };
}

/** KILL … SYNC: ends every insert that has started and writes rows of the partition. */
export function drain(scenario: Scenario, world: World, partition: number): World {
  const { mutation } = scenario;
  if (mutation === 'no_drain') return world;
  const isFound = ({ phase, members }: Request): boolean => {
    const named = mutation === 'drain_of_first_member' ? members.slice(0, 1) : members;
    return phase !== 'sent' && named.some((member) => member.partition === partition);
  };
  const found = world.requests.filter(isFound);
  if (found.length === 0) return world;
  let next: World = { ...world, requests: world.requests.filter((one) => !found.includes(one)) };
  for (const request of found) {
    if (request.phase === 'visible') next = completeInsert(next, request, mutation);
    next = announce(scenario, next, { request, outcome: 'unknown' });
  }
  return next;
}

/** The server ends with all its inserts. */
export function endAll(scenario: Scenario, world: World): World {
  let next: World = { ...world, requests: [] };
  for (const request of world.requests) {
    next = announce(scenario, next, { request, outcome: 'unknown' });
  }
  return next;
}
