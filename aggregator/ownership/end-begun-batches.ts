import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { HOUR_MS } from '../../contract/instant.js';
import { systemClock } from '../../runtime/clock.js';
import { AssertionFailed } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import { isPostgresLog } from '../../sql/log-in-use.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import type { EncodedBatch } from '../fold/encode-rows.js';
import { NO_ENVIRONMENT } from '../fold/batch-marker.js';
import type { BatchRange } from '../fold/batch-tables.js';
import type { AcceptedCount } from '../fold/count-accepted.js';
import type { CatalogReader } from '../gather/catalog.js';
import type { Checkpoint, Intent, Presence } from '../protocol/state.js';
import { encodeStoredBatch } from '../write/encode-stored-batch.js';
import { insertBatches } from '../write/insert-batches.js';
import { UsageWriter } from '../write/usage-writer.js';
import { createCheckpointStore } from '../checkpoints/checkpoint-store.js';

const listBegun = statement(
  'list-begun-batches',
  z.object({ log: z.string(), partition: z.number() }),
);

/** The stores in which an operator's verb ends batches that aggregators have begun. */
export type BatchStores = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly catalog: CatalogReader;
  readonly logger: Log;
  readonly memberId: string;
};

type PartitionOfLog = { readonly log: string; readonly partition: number };
/** A partition with a batch that was begun and not finished. */
export type BegunBatch = PartitionOfLog;

/** Records `[from, to)` of a batch that nobody can count any more. */
type LostRecords = { readonly from: number; readonly to: number };

/**
 * What becomes of a batch that has stored no event: it stays, to be counted from its records; it
 * ends empty, since its records are counted elsewhere; or it ends empty, and records are lost.
 */
type WhenEmpty = 'stays' | 'is counted elsewhere' | { readonly lost: LostRecords | 'all' };

/** What an intent leaves to be inserted: nothing of it, or the ids and the usage of its events. */
type Missing = readonly ('ids' | 'usage')[];

function contradiction(range: BatchRange, presence: Presence): AssertionFailed {
  const { logId, partition, start, end } = range;
  return new AssertionFailed(
    `the batch ${start} to ${end} of partition ${partition} of log ${logId} stands in ClickHouse in part (${JSON.stringify(presence)}): restore PostgreSQL and ClickHouse to the same moment (docs/operations.md 11)`,
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

/**
 * Names records as lost where operators and the monitoring look: as a dead letter, and (returned)
 * as accepted records of no environment, which make a difference in the reconciliation.
 */
async function recordLoss(
  { clickhouse, logger }: BatchStores,
  { logId, partition }: BatchRange,
  { from, to }: LostRecords,
): Promise<AcceptedCount> {
  const nowMs = systemClock.now();
  await clickhouse.command(
    `INSERT INTO dead_letters_v1 (log_id, log_partition, log_offset, reason, payload, appended_at)
     SELECT {log_id:String}, {partition:UInt32}, {from:UInt64}, 'lost_records', {payload:String},
       now64(3)`,
    {
      log_id: logId,
      partition,
      from,
      payload: `records ${from} to ${to - 1} were gone from the log before they were counted`,
    },
  );
  logger.warn({ log: logId, partition, from, to }, 'records are lost, and named as a dead letter');
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  return { environment: NO_ENVIRONMENT, hourMs, eventCount: to - from };
}

export type Taken = { readonly writer: UsageWriter; readonly checkpoint: Checkpoint };
type Ending = {
  readonly range: BatchRange;
  readonly intent: Intent;
  readonly presence: Presence;
  readonly lost: LostRecords | null;
};

/** The intended batch again, made from the events that it has stored, and what is lost of it. */
async function encodeStored(
  stores: BatchStores,
  { range, intent, lost }: Ending,
): Promise<EncodedBatch> {
  const { meters } = await stores.catalog.load(intent.catalogVersion);
  const accepted = lost === null ? [] : [await recordLoss(stores, range, lost)];
  return encodeStoredBatch(stores.clickhouse, range, { meters, losses: accepted });
}

/** Fences whoever owned the partition; null when it is another's by now. */
export async function takeForOperator(
  { clickhouse, database, memberId }: BatchStores,
  { log, partition }: PartitionOfLog,
): Promise<Taken | null> {
  const writer = new UsageWriter(clickhouse, log, partition);
  const checkpoints = createCheckpointStore(database, { log, memberId });
  const checkpoint = await checkpoints.takeForOperator(partition, await writer.gate());
  if (checkpoint === null) return null;
  if ((await writer.raiseGate(checkpoint.epoch)) > checkpoint.epoch) return null;
  await writer.drain();
  return { writer, checkpoint };
}

async function complete(stores: BatchStores, { checkpoint }: Taken, ending: Ending): Promise<void> {
  const { range, presence } = ending;
  const missing = missingOf(range, presence);
  if (missing.length > 0) {
    const encoded = await encodeStored(stores, ending);
    const toWrite = [{ epoch: checkpoint.epoch, batch: { range, encoded } }];
    for (const table of missing) {
      const { outcome } = await insertBatches(stores.clickhouse, table, toWrite);
      if (outcome !== 'inserted') return;
    }
  }
  const { logId, partition, start, end } = range;
  const rows = presence.events;
  const batch = { partition, epoch: checkpoint.epoch, start, end, rows, appendedAtMs: null };
  const { database, memberId, logger } = stores;
  const checkpoints = createCheckpointStore(database, { log: logId, memberId });
  if (!(await checkpoints.finish([batch])).has(partition)) return;
  const facts = { log: logId, partition, start, end, events: rows, inserted: missing };
  logger.info(facts, rows > 0 ? 'completed a begun batch' : 'ended a begun batch that stored none');
}

async function endBatch(
  stores: BatchStores,
  begun: BegunBatch,
  whenEmpty: WhenEmpty,
): Promise<void> {
  const taken = await takeForOperator(stores, begun);
  const intent = taken?.checkpoint.intent ?? null;
  if (taken === null || intent === null) return;
  const { log: logId, partition } = begun;
  const range = { logId, partition, start: taken.checkpoint.nextOffset, end: intent.end };
  // Its records may be gone, and with them the time of their append.
  const presence = await taken.writer.presence(range, null);
  if (presence.events > 0) return complete(stores, taken, { range, intent, presence, lost: null });
  if (whenEmpty === 'stays') return;
  const all = { from: range.start, to: range.end };
  const lost = whenEmpty === 'is counted elsewhere' ? null : whenEmpty.lost;
  const ending = { range, intent, presence, lost: lost === 'all' ? all : lost };
  await complete(stores, taken, ending);
}

/** Batches that were begun and not finished, of all logs. @throws DependencyError. */
export async function listBegunBatches(
  database: BatchStores['database'],
): Promise<readonly BegunBatch[]> {
  return database.slonik.any(listBegun());
}

async function endAll(
  stores: BatchStores,
  isToEnd: (begun: BegunBatch) => boolean,
  whenEmpty: WhenEmpty,
): Promise<readonly BegunBatch[]> {
  const begun = (await listBegunBatches(stores.database)).filter(isToEnd);
  for (const batch of begun) await endBatch(stores, batch, whenEmpty);
  return begun;
}

/**
 * Completes the batches that were begun on a log which can still be read, from the events that they
 * have stored. One that has stored none is left as it is: its records are still to be counted.
 * @throws DependencyError when a store fails; AssertionFailed when the stores contradict one
 *   another.
 */
export async function completeStoredBatches(stores: BatchStores, log: string): Promise<void> {
  await endAll(stores, (begun) => begun.log === log, 'stays');
}

/**
 * Ends a batch whose records are gone, in part or all of them, from the log that is read now. It is
 * completed from the events that it has stored; otherwise it ends empty, and the given records
 * become a dead letter and a difference in the reconciliation. @throws the same errors.
 */
export function endLostBatch(
  stores: BatchStores,
  begun: BegunBatch,
  lost: LostRecords,
): Promise<void> {
  return endBatch(stores, begun, { lost });
}

/**
 * The same for all batches that were begun on a log which nobody can read any more.
 * @returns those batches. @throws the same errors.
 */
export function endBatchesOfLostLog(
  stores: BatchStores,
  log: string,
): Promise<readonly BegunBatch[]> {
  return endAll(stores, (begun) => begun.log === log, { lost: 'all' });
}

/**
 * Ends the batches that were begun on the log in PostgreSQL under an earlier id. It holds their
 * records under its present id, so one that has stored none ends empty and nothing is lost.
 * @throws the same errors.
 */
export async function endBatchesOfRenewedLog(
  stores: BatchStores,
  presentLog: string,
): Promise<void> {
  await endAll(
    stores,
    ({ log }) => isPostgresLog(log) && log !== presentLog,
    'is counted elsewhere',
  );
}
