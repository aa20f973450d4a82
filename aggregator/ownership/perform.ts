import type { OneServer } from '../../clickhouse/one-server.js';
import { OffsetOutOfRange, type EventLogReader } from '../../event-log/interface/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import type { CatalogReader } from '../gather/catalog.js';
import type { IdFilter, Warming } from '../dedup/id-filter.js';
import type { OutcomeOf } from '../protocol/expected-outcomes.js';
import type { CommandOf, Inspection, Performed } from '../protocol/state.js';
import type { IdLookUps } from '../write/id-look-ups.js';
import type { UsageWriter } from '../write/usage-writer.js';
import type { CheckpointStore } from '../checkpoints/checkpoint-store.js';
import { refetchBatch } from '../gather/refetch-batch.js';
import { isShared, type Performance, type SharedCommand } from '../flush/flush.js';
import type { FlushMember } from '../flush/flush-member.js';

export type PartitionDependencies = {
  readonly partition: number;
  readonly log: EventLogReader;
  /** The one ClickHouse server on which events count once. */
  readonly server: Pick<OneServer, 'check'>;
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

type Alone = Exclude<Performed, SharedCommand>['kind'];

async function take({
  server,
  checkpoints,
  writer,
  partition,
  member,
}: PartitionDependencies): Promise<OutcomeOf<'take'>> {
  await member.stop();
  await server.check();
  const gate = await writer.gate();
  const checkpoint = await checkpoints.take(partition, gate);
  // It belongs to another member by now, who must not be fenced.
  return checkpoint === null ? { kind: 'fenced' } : { kind: 'taken', checkpoint };
}

async function inspect(
  { log, writer, checkpoints, partition }: PartitionDependencies,
  { checkpoint }: CommandOf<'inspect'>,
): Promise<OutcomeOf<'inspect'>> {
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
  { below }: CommandOf<'warm_filter'>,
): Promise<OutcomeOf<'warm_filter'>> {
  const startedAtMs = performance.now();
  const how = await filter.warm(below, signal);
  if (how === null) return { kind: 'unknown' };
  onWarm?.(how, (performance.now() - startedAtMs) / 1000);
  return { kind: 'filter_warm' };
}

async function lookUp(
  { filter, lookUps, partition }: PartitionDependencies,
  { below, appendedAtMs, ...command }: CommandOf<'look_up'>,
): Promise<OutcomeOf<'look_up'>> {
  const idHashes = filter.perhapsKnown(command.idHashes);
  const seen = await lookUps.find({ partition, idHashes, below, appendedAtMs });
  return { kind: 'looked_up', seen };
}

async function checkPresence(
  { writer }: PartitionDependencies,
  { range, appendedAtMs }: CommandOf<'check_presence'>,
): Promise<OutcomeOf<'check_presence'>> {
  return { kind: 'presence', presence: await writer.presence(range, appendedAtMs) };
}

function remember(
  { filter, signal, member }: PartitionDependencies,
  { batch }: CommandOf<'remember'>,
): Promise<OutcomeOf<'remember'>> {
  member.leave();
  filter.remember(batch.summary.idHashes, batch.range.end, signal);
  return Promise.resolve({ kind: 'remembered' });
}

/** For each command, what performs it: with its own outcomes, or it does not compile. */
const PERFORMERS: {
  readonly [Kind in Alone]: (
    to: PartitionDependencies,
    command: CommandOf<Kind>,
  ) => Promise<OutcomeOf<Kind>>;
} = {
  take,
  raise_gate: async ({ writer }, { epoch }) => ({
    kind: 'gate_raised',
    highestEpoch: await writer.raiseGate(epoch),
  }),
  drain: async ({ writer }) => {
    await writer.drain();
    return { kind: 'drained' };
  },
  inspect,
  warm_filter: warm,
  fetch: ({ member }, command) => member.fetch(command),
  refetch: refetchBatch,
  look_up: lookUp,
  check_presence: checkPresence,
  load_catalog: async ({ catalog }, { versionMin, isToBeHeld }) => ({
    kind: 'catalog_loaded',
    catalog: await (isToBeHeld ? catalog.held(versionMin) : catalog.latest(versionMin)),
  }),
  reread: async ({ checkpoints, partition }) => ({
    kind: 'reread',
    checkpoint: await checkpoints.read(partition),
  }),
  remember,
};

/** `kind` is that of the command; by it the compiler finds the command's own outcomes. */
function performAlone<Kind extends Alone>(
  to: PartitionDependencies,
  kind: Kind,
  command: CommandOf<Kind>,
): Promise<OutcomeOf<Kind>> {
  return PERFORMERS[kind](to, command);
}

/**
 * Performs a command once. When a dependency fails, the outcome is unknown, and the machine decides
 * what follows. Any other error is a bug and is thrown.
 */
export async function perform(to: PartitionDependencies, command: Performed): Promise<Performance> {
  try {
    if (isShared(command)) return await to.member.write(command);
    return { outcome: await performAlone(to, command.kind, command), cause: null };
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
