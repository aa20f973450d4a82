import { createHash } from 'node:crypto';
import { OffsetOutOfRange, type EventLogReader } from '../../event-log/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import type { CatalogReader } from '../gather/catalog.js';
import type { IdFilter, Warming } from '../dedup/id-filter.js';
import type { Command, Inspection, MachineSettings, Outcome } from '../protocol/state.js';
import type { IdLookUps } from '../write/id-look-ups.js';
import type { UsageWriter } from '../write/usage-writer.js';
import type { CheckpointStore } from './checkpoint-store.js';
import { refetchBatch } from '../gather/refetch-batch.js';
import { isShared, type Performance, type SharedCommand } from '../flush/flush.js';
import type { FlushMember } from '../flush/flush-member.js';

export type PartitionDependencies = {
  readonly partition: number;
  readonly log: EventLogReader;
  readonly checkpoints: CheckpointStore;
  readonly catalog: CatalogReader;
  readonly writer: UsageWriter;
  /** Of all partitions of the process. */
  readonly lookUps: Pick<IdLookUps, 'find'>;
  readonly filter: IdFilter;
  readonly member: FlushMember;
  /** Events of one batch. */
  readonly eventsMax: number;
  /** Called with how the filter became complete, and how many seconds that took. */
  readonly onWarm?: (how: Warming, seconds: number) => void;
  /** Aborts when the partition must be given up; a batch with an intent is finished first. */
  readonly signal: AbortSignal;
};

/** 64 hexadecimal digits; the digest of an intent. */
export const digestAfter: MachineSettings['digestAfter'] = (texts) => {
  const begun = createHash('sha256');
  for (const text of texts) begun.update(text);
  return (following) => {
    const sum = begun.copy();
    for (const text of following) sum.update(text);
    return sum.digest('hex');
  };
};

/** All commands except those that end a run. */
export type Performed = Exclude<Command, { readonly kind: 'halt' | 'step_down' }>;
type Of<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

async function take({
  checkpoints,
  writer,
  partition,
  member,
}: PartitionDependencies): Promise<Outcome> {
  await member.stop();
  const gate = await writer.gate();
  const checkpoint = await checkpoints.take(partition, gate);
  // It belongs to another member by now, who must not be fenced.
  return checkpoint === null ? { kind: 'fenced' } : { kind: 'taken', checkpoint };
}

async function inspect(
  { log, writer, checkpoints, partition }: PartitionDependencies,
  { checkpoint }: Of<'inspect'>,
): Promise<Outcome> {
  const bounds = await log.bounds(partition);
  const found = await writer.inspect(checkpoint);
  const inspection: Inspection = {
    ...found,
    rawEventsBeginMs: await checkpoints.rawEventsBegin(),
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
  { filter, lookUps, partition }: PartitionDependencies,
  { below, appendedAtMs, ...command }: Of<'look_up'>,
): Promise<Outcome> {
  const idHashes = filter.perhapsKnown(command.idHashes);
  const seen = await lookUps.find({ partition, idHashes, below, appendedAtMs });
  return { kind: 'looked_up', seen };
}

async function checkPresence(
  { writer }: PartitionDependencies,
  { range, appendedAtMs }: Of<'check_presence'>,
): Promise<Outcome> {
  return { kind: 'presence', presence: await writer.presence(range, appendedAtMs) };
}

function remember(
  { filter, signal, member }: PartitionDependencies,
  { batch }: Of<'remember'>,
): void {
  member.leave();
  filter.remember(batch.summary.idHashes, batch.range.end, signal);
}

// One case for each command; the compiler checks that none is missing.
// eslint-disable-next-line complexity
async function performAlone(
  to: PartitionDependencies,
  command: Exclude<Performed, SharedCommand>,
): Promise<Outcome> {
  switch (command.kind) {
    case 'take':
      return take(to);
    case 'raise_gate':
      return { kind: 'gate_raised', highestEpoch: await to.writer.raiseGate(command.epoch) };
    case 'drain':
      await to.writer.drain();
      return { kind: 'drained' };
    case 'inspect':
      return inspect(to, command);
    case 'warm_filter':
      return warm(to, command);
    case 'fetch':
      return to.member.fetch(command);
    case 'refetch':
      return refetchBatch(to, command);
    case 'look_up':
      return lookUp(to, command);
    case 'check_presence':
      return checkPresence(to, command);
    case 'load_catalog':
      return { kind: 'catalog_loaded', catalog: await to.catalog.latest(command.versionMin) };
    case 'reread':
      return { kind: 'reread', checkpoint: await to.checkpoints.read(to.partition) };
    case 'remember':
      remember(to, command);
      return { kind: 'remembered' };
  }
}

/**
 * Performs a command once. When a dependency fails, the outcome is unknown, and the machine decides
 * what follows. Any other error is a bug and is thrown.
 */
export async function perform(to: PartitionDependencies, command: Performed): Promise<Performance> {
  try {
    if (isShared(command)) return await to.member.write(command);
    return { outcome: await performAlone(to, command), cause: null };
  } catch (error) {
    if (error instanceof OffsetOutOfRange) {
      const { offset, bounds } = error;
      const { startOffset: logStart, endOffset: logEnd } = bounds;
      return { outcome: { kind: 'not_in_log', offset, logStart, logEnd }, cause: error };
    }
    if (error instanceof DependencyError) return { outcome: { kind: 'unknown' }, cause: error };
    throw error;
  }
}
