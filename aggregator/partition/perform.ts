import { createHash } from 'node:crypto';
import type { EventLogReader } from '../../event-log/event-log.js';
import { OffsetOutOfRange } from '../../event-log/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import type { CatalogReader } from '../catalog.js';
import type { IdFilter, Warming } from '../dedup/id-filter.js';
import type { Command, Inspection, Outcome } from '../protocol/state.js';
import { insertStatement } from '../sink/insert-statements.js';
import type { UsageStore } from '../sink/usage-store.js';
import type { CheckpointStore } from './checkpoint-store.js';
import { fetchBatch, refetchBatch, type FetchLimits } from './fetch-batch.js';

export type PartitionDependencies = {
  readonly partition: number;
  readonly log: EventLogReader;
  readonly checkpoints: CheckpointStore;
  readonly catalog: CatalogReader;
  readonly store: UsageStore;
  readonly filter: IdFilter;
  readonly limits: FetchLimits;
  /** How many partitions this process runs now; they share the limits. */
  readonly partitionsRunning: () => number;
  /** Told how a filter became complete, and how many seconds that took. */
  readonly onWarm?: (how: Warming, seconds: number) => void;
  /** Aborted when the partition is to be given up; a batch under way is finished first. */
  readonly signal: AbortSignal;
};

/** 64 hexadecimal digits; the digest of an intent. */
export function digestOf(texts: readonly string[]): string {
  const sum = createHash('sha256');
  for (const text of texts) sum.update(text);
  return sum.digest('hex');
}

/** Every command but those that end a run. */
export type Performed = Exclude<Command, { readonly kind: 'halt' | 'step_down' }>;
type Of<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

async function take({ checkpoints, store, partition }: PartitionDependencies): Promise<Outcome> {
  const gate = await store.gate();
  const checkpoint = await checkpoints.take(partition, gate);
  // Another member's by now: taking it would only fence the rightful owner.
  return checkpoint === null ? { kind: 'fenced' } : { kind: 'taken', checkpoint };
}

async function inspect(
  { log, store, partition }: PartitionDependencies,
  { checkpoint }: Of<'inspect'>,
): Promise<Outcome> {
  const bounds = await log.bounds(partition);
  const found = await store.inspect(checkpoint);
  const inspection: Inspection = {
    ...found,
    logStart: bounds.startOffset,
    logEnd: bounds.endOffset,
  };
  return { kind: 'inspected', inspection };
}

async function warm(
  { filter, signal, onWarm }: PartitionDependencies,
  { below }: Of<'warm_filter'>,
): Promise<Outcome> {
  const startedAtMs = performance.now();
  const how = await filter.warm(below, signal);
  if (how === null) return { kind: 'unknown' };
  onWarm?.(how, (performance.now() - startedAtMs) / 1000);
  return { kind: 'filter_warm' };
}

async function lookUp(
  { filter, store }: PartitionDependencies,
  command: Of<'look_up'>,
): Promise<Outcome> {
  const idHashes = filter.perhapsKnown(command.idHashes);
  return { kind: 'looked_up', seen: await store.lookUp(idHashes, command.below) };
}

async function writeGuarded(
  { checkpoints, partition }: PartitionDependencies,
  command: Of<'intend' | 'finish'>,
): Promise<Outcome> {
  const isWritten =
    command.kind === 'intend'
      ? await checkpoints.intend(partition, command)
      : await checkpoints.finish(partition, command);
  if (isWritten) return { kind: 'written' };
  return { kind: 'refused', checkpoint: await checkpoints.read(partition) };
}

async function insert(
  { store }: PartitionDependencies,
  { epoch, table, text }: Of<'insert'>,
): Promise<Outcome> {
  const { outcome } = await store.insert(epoch, insertStatement(table), text);
  return { kind: outcome };
}

function remember({ filter, signal }: PartitionDependencies, { batch }: Of<'remember'>): void {
  filter.remember(batch.summary.idHashes, batch.range.end, signal);
}

// One case a command: the list is complete because the compiler says so.
// eslint-disable-next-line complexity
async function attempt(to: PartitionDependencies, command: Performed): Promise<Outcome> {
  switch (command.kind) {
    case 'take':
      return take(to);
    case 'raise_gate':
      return { kind: 'gate_raised', highestEpoch: await to.store.raiseGate(command.epoch) };
    case 'drain':
      await to.store.drain();
      return { kind: 'drained' };
    case 'inspect':
      return inspect(to, command);
    case 'warm_filter':
      return warm(to, command);
    case 'fetch':
      return fetchBatch(to, command);
    case 'refetch':
      return refetchBatch(to, command);
    case 'look_up':
      return lookUp(to, command);
    case 'check_presence':
      return { kind: 'presence', presence: await to.store.presence(command.range) };
    case 'intend':
    case 'finish':
      return writeGuarded(to, command);
    case 'insert':
      return insert(to, command);
    case 'reread':
      return { kind: 'reread', checkpoint: await to.checkpoints.read(to.partition) };
    case 'remember':
      remember(to, command);
      return { kind: 'remembered' };
  }
}

export type Performance = { readonly outcome: Outcome; readonly cause: Error | null };

/**
 * Does what the machine asks, once. A failing dependency leaves the outcome unknown, and the
 * machine decides what that means; any other error is a bug and is thrown.
 */
export async function perform(to: PartitionDependencies, command: Performed): Promise<Performance> {
  try {
    return { outcome: await attempt(to, command), cause: null };
  } catch (error) {
    if (error instanceof OffsetOutOfRange) {
      return { outcome: { kind: 'log_start_passed' }, cause: error };
    }
    if (error instanceof DependencyError) return { outcome: { kind: 'unknown' }, cause: error };
    throw error;
  }
}
