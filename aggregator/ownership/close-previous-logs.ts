import type { ClickHouse } from '../../clickhouse/client.js';
import { AssertionFailed, DependencyError } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { Database } from '../../sql/pool.js';
import type { EncodedBatch } from '../fold/encode-rows.js';
import type { BatchRange } from '../fold/batch-tables.js';
import type { CatalogReader } from '../gather/catalog.js';
import type { Checkpoint, Intent, Presence } from '../protocol/state.js';
import { encodeStoredBatch } from '../write/encode-stored-batch.js';
import { insertBatches } from '../write/insert-batches.js';
import { UsageWriter } from '../write/usage-writer.js';
import { createCheckpointStore } from '../checkpoints/checkpoint-store.js';

export type PreviousLogs = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly catalog: CatalogReader;
  readonly logger: Log;
  /** The log that is read now. */
  readonly logId: string;
  readonly memberId: string;
};

type Intended = { readonly log: string; readonly partition: number };

/** What an intent leaves to be inserted: nothing of it, or the ids and the usage of its events. */
type Missing = readonly ('ids' | 'usage')[];

function contradiction(range: BatchRange, presence: Presence): AssertionFailed {
  const { logId, partition, start, end } = range;
  return new AssertionFailed(
    `the batch ${start} to ${end} of partition ${partition} of the earlier log ${logId} stands in ClickHouse in part (${JSON.stringify(presence)}): restore PostgreSQL and ClickHouse to the same moment (docs/operations.md 11)`,
  );
}

/**
 * Events are written before ids and usage, each as a whole; so what is there says what is missing.
 */
function missingOf(range: BatchRange, presence: Presence): Missing {
  const { events, ids, marker } = presence;
  if (ids !== 0 && ids !== events) throw contradiction(range, presence);
  if (marker !== 0 && marker !== 1) throw contradiction(range, presence);
  const hasIds = events === 0 || ids > 0;
  // A batch that stored nothing gets its marker too: those of a partition follow without a gap.
  return [...(hasIds ? [] : (['ids'] as const)), ...(marker > 0 ? [] : (['usage'] as const))];
}

/** The intended batch again, made from the events that it has stored. */
async function encodeStored(
  { clickhouse, catalog }: PreviousLogs,
  range: BatchRange,
  { catalogVersion }: Intent,
): Promise<EncodedBatch> {
  const { meters } = await catalog.load(catalogVersion);
  return encodeStoredBatch(clickhouse, range, meters);
}

type Taken = { readonly writer: UsageWriter; readonly checkpoint: Checkpoint };

/** Fences whoever owned the partition; null when it is another's by now, or there is no intent. */
async function take(
  { clickhouse, database, memberId }: PreviousLogs,
  { log, partition }: Intended,
): Promise<Taken | null> {
  const writer = new UsageWriter(clickhouse, log, partition);
  const checkpoints = createCheckpointStore(database, { log, memberId });
  const checkpoint = await checkpoints.takeIntended(partition, await writer.gate());
  if (checkpoint === null) return null;
  if ((await writer.raiseGate(checkpoint.epoch)) > checkpoint.epoch) return null;
  await writer.drain();
  return { writer, checkpoint };
}

async function complete(
  logs: PreviousLogs,
  { writer, checkpoint }: Taken,
  range: BatchRange & { readonly intent: Intent },
): Promise<'completed' | 'fenced' | 'kept'> {
  // Its records may be gone, and with them the time of their append.
  const presence = await writer.presence(range, null);
  // The records of the log that is read now are counted by whoever takes the partition.
  if (presence.events === 0 && range.logId === logs.logId) return 'kept';
  const missing = missingOf(range, presence);
  if (missing.length > 0) {
    const encoded = await encodeStored(logs, range, range.intent);
    const toWrite = [{ epoch: checkpoint.epoch, batch: { range, encoded } }];
    for (const table of missing) {
      const { outcome } = await insertBatches(logs.clickhouse, table, toWrite);
      if (outcome === 'fenced') return 'fenced';
    }
  }
  const { logId, partition, start, end } = range;
  const rows = presence.events;
  const batch = { partition, epoch: checkpoint.epoch, start, end, rows, appendedAtMs: null };
  const checkpoints = createCheckpointStore(logs.database, { log: logId, memberId: logs.memberId });
  if (!(await checkpoints.finish([batch])).has(partition)) return 'fenced';
  const facts = { log: logId, partition, start, end, events: presence.events, inserted: missing };
  if (presence.events > 0) logs.logger.info(facts, 'completed the last batch of an earlier log');
  else
    logs.logger.warn(
      facts,
      'the last batch of an earlier log had stored no event: its records count only if the log that is read now holds them too',
    );
  return 'completed';
}

async function closePartition(logs: PreviousLogs, intended: Intended): Promise<void> {
  const taken = await take(logs, intended);
  const intent = taken?.checkpoint.intent ?? null;
  if (taken === null || intent === null) return;
  const { log: logId, partition } = intended;
  const range = { logId, partition, start: taken.checkpoint.nextOffset, end: intent.end };
  await complete(logs, taken, { ...range, intent });
}

/**
 * Completes the batches that were begun on the log that is read now, from the events that they have
 * stored. One that has stored none is left as it is: its records are still to be counted.
 * @throws the same errors as `closePreviousLogs`.
 */
export async function completeStoredBatches(logs: PreviousLogs): Promise<void> {
  const { database, logId: log, memberId } = logs;
  // Of all logs: none is left out.
  const intents = await createCheckpointStore(database, { log: '', memberId }).previousIntents();
  for (const intended of intents) if (intended.log === log) await closePartition(logs, intended);
}

/**
 * Ends a batch whose records are gone from the log that is read now: it is completed from the
 * events that it has stored, and otherwise ends empty. @throws the same errors.
 */
export function endLostBatch(logs: PreviousLogs, partition: number): Promise<void> {
  // Ended in the way of a log that is no longer in use, since its records are gone.
  return closePartition({ ...logs, logId: '' }, { log: logs.logId, partition });
}

/** Others may be closing the same partitions, and fence us while they do. */
const ROUNDS_MAX = 20;

/**
 * Ends what was intended on logs that are read no more (docs/architecture.md 3.4), before the first
 * batch of the present one. Their ids bar duplicates for ever, so their usage must be there; and a
 * meter that began at the end of an intended batch waits for its end. The records may be gone, so
 * the batch is made again from the events that it stored. One that stored none ends empty.
 * @throws DependencyError when a store fails; AssertionFailed when the stores contradict one
 * another.
 */
export async function closePreviousLogs(logs: PreviousLogs): Promise<void> {
  const { database, logId: log, memberId } = logs;
  const checkpoints = createCheckpointStore(database, { log, memberId });
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const intents = await checkpoints.previousIntents();
    if (intents.length === 0) return;
    for (const intended of intents) await closePartition(logs, intended);
  }
  throw new DependencyError('another process keeps taking the partitions of an earlier log', {
    dependency: 'postgres',
    isRetryable: true,
  });
}
