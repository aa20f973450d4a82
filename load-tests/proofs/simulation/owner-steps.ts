import type { Command, Outcome } from '../../../aggregator/protocol/state.js';
import type { StoredId } from '../../../aggregator/fold/separate-duplicates.js';
import { FIRST_STEP } from '../../../aggregator/protocol/steps.js';
import type { PartitionFacts, Scenario } from './scenario.js';
import { inspectionOf, presenceOf, storedIds } from './simulated-clickhouse.js';
import { finishBatch, intendBatch, takeCheckpoint } from './simulated-postgres.js';
import {
  FRESH_OWNER,
  isReads,
  withItem,
  type LateWrite,
  type MetersWorld,
  type Owner,
  type OwnerFilter,
  type PartitionWorld,
  type Reads,
} from './world.js';

/** What the steps of one partition depend on. */
export type Around = {
  readonly scenario: Scenario;
  readonly index: number;
  readonly facts: PartitionFacts;
  readonly meters: MetersWorld;
};

export function withOwner(partition: PartitionWorld, index: number, owner: Owner): PartitionWorld {
  return { ...partition, owners: withItem(partition.owners, index, owner) };
}

/** Passes an outcome to an owner; the product's own machine decides what it does next. */
export function tell(
  { scenario, index }: Pick<Around, 'scenario' | 'index'>,
  partition: PartitionWorld,
  to: { readonly owner: number; readonly outcome: Outcome },
): PartitionWorld {
  const owner = partition.owners[to.owner];
  const settings = scenario.settings[index]?.[to.owner];
  const machine = scenario.machine;
  if (owner === undefined || settings === undefined || machine === undefined) return partition;
  const step = machine(settings, owner.step.state, to.outcome);
  return withOwner(partition, to.owner, { ...owner, step, inserting: null });
}

/** A fenced owner may take the partition again; its filter is kept. */
export function again(partition: PartitionWorld, index: number): PartitionWorld | null {
  const owner = partition.owners[index];
  if (owner?.step.command.kind !== 'step_down') return null;
  return withOwner(partition, index, { ...owner, step: FIRST_STEP });
}

/** Applies an update to the row or the gate; null when a guard refuses it. */
export function applyWrite(
  { mutation }: Scenario,
  partition: PartitionWorld,
  write: LateWrite,
): PartitionWorld | null {
  if (write.kind === 'raise_gate') {
    return { ...partition, gate: Math.max(partition.gate, write.epoch) };
  }
  const { row } = partition;
  if (row === null) return null;
  const next =
    write.kind === 'take'
      ? takeCheckpoint(row, partition.gate)
      : write.kind === 'intend'
        ? intendBatch(row, write, mutation)
        : finishBatch(row, write, mutation);
  return next === null ? null : { ...partition, row: next, rowBefore: row };
}

function isWrite(command: Command): command is LateWrite {
  const { kind } = command;
  return kind === 'take' || kind === 'raise_gate' || kind === 'intend' || kind === 'finish';
}

/** The update is sent and its connection lost: it takes effect at any later time, or never. */
export function loseReply(
  around: Around,
  partition: PartitionWorld,
  owner: number,
): PartitionWorld | null {
  const command = partition.owners[owner]?.step.command;
  if (command === undefined || !isWrite(command)) return null;
  const lateWrites = [...partition.lateWrites, command];
  return tell(around, { ...partition, lateWrites }, { owner, outcome: { kind: 'unknown' } });
}

function write(
  around: Around,
  partition: PartitionWorld,
  { owner, command }: { readonly owner: number; readonly command: LateWrite },
): PartitionWorld | null {
  const next = applyWrite(around.scenario, partition, command);
  const { row } = next ?? partition;
  if (row === null) return null;
  const reply = (outcome: Outcome): PartitionWorld =>
    tell(around, next ?? partition, { owner, outcome });
  if (next === null) return reply({ kind: 'refused', checkpoint: row });
  if (command.kind === 'take') return reply({ kind: 'taken', checkpoint: row });
  if (command.kind !== 'raise_gate') return reply({ kind: 'written' });
  return reply({ kind: 'gate_raised', highestEpoch: next.gate });
}

/** The kept filter at a take; null when a new one must be built. */
function usableFilter(owner: Owner | undefined, below: number): OwnerFilter | null {
  const filter = owner?.filter ?? null;
  return filter !== null && below >= filter.completeBelow ? filter : null;
}

/** IdFilter.warm: reads the ids added since, or all ids when there is no filter. */
function warmFilter(
  { facts, scenario }: Around,
  partition: PartitionWorld,
  at: { readonly owner: number; readonly below: number },
): PartitionWorld {
  const owner = partition.owners[at.owner];
  const kept = usableFilter(owner, at.below);
  const isLeftAsItIs = kept !== null && scenario.mutation === 'filter_not_caught_up';
  if (owner === undefined || isLeftAsItIs) return partition;
  const from = kept?.completeBelow ?? 0;
  const idHashes = new Set(kept?.idHashes);
  for (const [idHash, { offset }] of storedIds(facts, partition, at.below)) {
    if (offset >= from) idHashes.add(idHash);
  }
  const filter = { idHashes, completeBelow: at.below };
  return withOwner(partition, at.owner, { ...owner, filter });
}

/** A Bloom filter also contains some unknown ids: here always the same half of them. */
function mayContain(filter: OwnerFilter | null, idHash: string): boolean {
  const isFalsePositive = idHash.charCodeAt(idHash.length - 1) % 2 === 0;
  return filter === null || isFalsePositive || filter.idHashes.has(idHash);
}

type Of<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

function lookUp(
  around: Around,
  partition: PartitionWorld,
  { owner, command }: { readonly owner: Owner; readonly command: Of<'look_up'> },
): ReadonlyMap<string, StoredId> {
  const { mutation } = around.scenario;
  const below = mutation === 'no_bound_below_batch' ? Number.POSITIVE_INFINITY : command.below;
  const stored = storedIds(around.facts, partition, below);
  const seen = new Map<string, StoredId>();
  for (const idHash of command.idHashes) {
    if (!mayContain(owner.filter, idHash)) continue;
    const row = stored.get(idHash);
    if (row !== undefined) seen.set(idHash, row.stored);
    else if (mutation === 'marks_before_write' && owner.filter?.idHashes.has(idHash) === true) {
      seen.set(idHash, { payloadHash: '', timestampMs: 0, isTimestampGiven: false });
    }
  }
  return seen;
}

/** IdFilter.remember: the ids of a batch that ends there. */
function addToFilter(
  partition: PartitionWorld,
  index: number,
  ids: { readonly idHashes: readonly string[]; readonly end: number },
): PartitionWorld {
  const owner = partition.owners[index];
  if (owner === undefined) return partition;
  const idHashes = new Set(owner.filter?.idHashes);
  for (const idHash of ids.idHashes) idHashes.add(idHash);
  return withOwner(partition, index, { ...owner, filter: { idHashes, completeBelow: ids.end } });
}

type EndOrInsert = Of<'insert' | 'halt' | 'step_down'>;
type Question = Exclude<Command, LateWrite | Reads | EndOrInsert>;

function isEndOrInsert(command: Command): command is EndOrInsert {
  const { kind } = command;
  return kind === 'insert' || kind === 'halt' || kind === 'step_down';
}

// One case for each command; the compiler checks that none is missing.
// eslint-disable-next-line complexity
function ask(
  around: Around,
  partition: PartitionWorld,
  { owner, command }: { readonly owner: number; readonly command: Question },
): PartitionWorld {
  const { facts, scenario } = around;
  const { mutation } = scenario;
  const asker = partition.owners[owner] ?? FRESH_OWNER;
  const answer = (next: PartitionWorld, outcome: Outcome): PartitionWorld =>
    tell(around, next, { owner, outcome });
  switch (command.kind) {
    case 'drain':
      return answer(partition, { kind: 'drained' });
    case 'inspect': {
      const inspection = inspectionOf(facts, partition, command.checkpoint);
      return answer(partition, { kind: 'inspected', inspection });
    }
    case 'warm_filter': {
      const warm = warmFilter(around, partition, { owner, below: command.below });
      return answer(warm, { kind: 'filter_warm' });
    }
    case 'look_up': {
      const seen = lookUp(around, partition, { owner: asker, command });
      const isMarked = mutation === 'marks_before_write';
      const { idHashes, below } = command;
      const next = isMarked ? addToFilter(partition, owner, { idHashes, end: below }) : partition;
      return answer(next, { kind: 'looked_up', seen });
    }
    case 'check_presence': {
      const nothing = { events: 0, ids: 0, marker: 0 };
      const isBlind = mutation === 'no_presence_check';
      const presence = isBlind ? nothing : presenceOf(facts, partition, command.range);
      return answer(partition, { kind: 'presence', presence });
    }
    case 'reread':
      return partition.row === null
        ? partition
        : answer(partition, { kind: 'reread', checkpoint: partition.row });
    case 'remember': {
      const { summary, range } = command.batch;
      const isTold = mutation !== 'filter_not_told';
      const idHashes = isTold ? summary.idHashes : [];
      const next = addToFilter(partition, owner, { idHashes, end: range.end });
      return answer(next, { kind: 'remembered' });
    }
  }
}

/**
 * The owner performs its command, for which it looks at its partition alone; null when it waits,
 * reads the log, sends inserts or has ended.
 */
export function act(
  around: Around,
  partition: PartitionWorld,
  index: number,
): PartitionWorld | null {
  const owner = partition.owners[index];
  if (owner === undefined || owner.inserting !== null) return null;
  const { command } = owner.step;
  if (isWrite(command)) return write(around, partition, { owner: index, command });
  if (isReads(command) || isEndOrInsert(command)) return null;
  return ask(around, partition, { owner: index, command });
}
