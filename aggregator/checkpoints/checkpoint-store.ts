import { z } from 'zod';
import type { InstantMs } from '../../contract/instant.js';
import type { Checkpoint, Intent } from '../protocol/state.js';
import { readRawEventsBegin } from '../retention/expired-months.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import type { PreviousLog } from '../dedup/previous-logs.js';

const checkpointRow = z.object({
  epoch: integerColumn,
  next_offset: integerColumn,
  intent_end: integerColumn.nullable(),
  catalog_version: integerColumn,
  min_version: integerColumn,
  fold_version: z.number(),
  digest: z.string().nullable(),
  last_batch_start: integerColumn.nullable(),
  last_batch_rows: z.number().nullable(),
  last_batch_appended_ms: integerColumn.nullable(),
  last_batch_erased: z.number(),
});
const writtenRow = z.object({ partition: z.number() });

const madeRow = z.object({ partition: z.number(), next_offset: integerColumn });

const ensureCheckpoints = statement('ensure-checkpoints', madeRow);
const takeCheckpoint = statement('take-checkpoint', checkpointRow);
const readCheckpoint = statement('read-checkpoint', checkpointRow);
const listPreviousLogs = statement(
  'list-previous-logs',
  z.object({ log: z.string(), partition_count: integerColumn }),
);
const takeForOperator = statement('take-for-operator', checkpointRow);
const takeOverBatches = statement('take-over-batches', writtenRow);
const awaitIntents = statement('await-intents', z.unknown());
const intendBatches = statement('intend-batches', writtenRow);
const finishBatches = statement('finish-batches', writtenRow);

function intentFromRow(row: z.output<typeof checkpointRow>): Intent | null {
  if (row.intent_end === null) return null;
  return {
    end: row.intent_end,
    catalogVersion: row.catalog_version,
    foldVersion: row.fold_version,
    digest: assertPresent(row.digest, 'digest of an intent'),
  };
}

function checkpointFromRow(row: z.output<typeof checkpointRow>): Checkpoint {
  const { last_batch_start: start, last_batch_rows: rows, last_batch_erased: erased } = row;
  const appendedAtMs = row.last_batch_appended_ms;
  return {
    epoch: row.epoch,
    nextOffset: row.next_offset,
    intent: intentFromRow(row),
    minVersion: row.min_version,
    catalogVersion: row.catalog_version,
    lastBatch: start === null || rows === null ? null : { start, rows, erased, appendedAtMs },
  };
}

/** Logs other than this one whose partitions are all known. @throws DependencyError. */
export async function readPreviousLogs(
  { slonik }: Database,
  log: string,
): Promise<readonly PreviousLog[]> {
  const rows = await slonik.any(listPreviousLogs({ log }));
  return rows.map((row) => ({ log: row.log, partitionCount: row.partition_count }));
}

type Partition = { readonly log: string; readonly partition: number };
/** A batch `[start, intent.end)` that is about to be written. */
type IntendedBatch = {
  readonly partition: number;
  readonly epoch: number;
  readonly start: number;
  readonly intent: Intent;
  /** Replaces the standing intent of the same range, of which nothing was written. */
  readonly isReplacement: boolean;
};
/**
 * A batch `[start, end)` that is written; `rows`: of events; `appendedAtMs`: when the log appended
 * its first record, null when that is not known.
 */
type WrittenBatch = {
  readonly partition: number;
  readonly epoch: number;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly appendedAtMs: InstantMs | null;
};
/** The log, and the member that takes its partitions. */
type Holder = { readonly log: string; readonly memberId: string };

/**
 * The checkpoint rows of one log. A guarded update resolves to where it took effect. When
 * PostgreSQL fails, the outcome is unknown and a DependencyError is thrown.
 */
export function createCheckpointStore(database: Database, { log, memberId }: Holder) {
  const at = (partition: number): Partition => ({ log, partition });
  const { slonik } = database;
  return {
    /**
     * Creates missing rows, each at the first offset that the log still holds. Returns the new
     * partitions that begin above 0: their earlier records are no longer in the log.
     */
    ensure: async (starts: readonly number[]): Promise<readonly number[]> => {
      const made = await slonik.any(ensureCheckpoints({ log, starts: JSON.stringify(starts) }));
      return made.flatMap((row) => (row.next_offset > 0 ? [row.partition] : []));
    },
    /** Raises the epoch; null when the partition belongs to another member by now. */
    take: async (partition: number, gate: number): Promise<Checkpoint | null> => {
      const row = await slonik.maybeOne(takeCheckpoint({ ...at(partition), memberId, gate }));
      return row === null ? null : checkpointFromRow(row);
    },
    /** Raises the epoch, whoever owns the partition; null when no aggregator has seen it yet. */
    takeForOperator: async (partition: number, gate: number): Promise<Checkpoint | null> => {
      const row = await slonik.maybeOne(takeForOperator({ ...at(partition), gate }));
      return row === null ? null : checkpointFromRow(row);
    },
    /**
     * Moves a checkpoint that was set back behind what is written, as one finished batch; false
     * when another has taken the partition, or a meter has come since the last known intent.
     */
    takeOver: async ({ partition, epoch, start, end, rows, appendedAtMs }: WrittenBatch) => {
      const batch = { partition, epoch, start, endOffset: end, rows, appendedAtMs };
      return (await slonik.maybeOne(takeOverBatches({ log, ...batch }))) !== null;
    },
    /** The instant before whose append raw events may have been removed; null for none. */
    rawEventsBegin: (): Promise<InstantMs | null> => readRawEventsBegin(database),
    read: async (partition: number): Promise<Checkpoint> =>
      checkpointFromRow(await slonik.one(readCheckpoint(at(partition)))),
    /**
     * One statement for all, once nobody holds intents. Resolves to the partitions of those
     * recorded.
     */
    intend: async (batches: readonly IntendedBatch[]): Promise<ReadonlySet<number>> => {
      const values = batches.map(({ partition, epoch, start, intent, isReplacement }) => ({
        partition,
        epoch,
        start,
        end_offset: intent.end,
        digest: intent.digest,
        catalog_version: intent.catalogVersion,
        fold_version: intent.foldVersion,
        is_replacement: isReplacement,
      }));
      await slonik.query(awaitIntents({}));
      const rows = await slonik.any(intendBatches({ log, batches: JSON.stringify(values) }));
      return new Set(rows.map(({ partition }) => partition));
    },
    /** One statement. Resolves to the partitions whose batches are finished. */
    finish: async (batches: readonly WrittenBatch[]): Promise<ReadonlySet<number>> => {
      const values = batches.map(({ partition, epoch, start, end, rows, appendedAtMs }) => ({
        partition,
        epoch,
        start,
        end_offset: end,
        rows,
        appended_at_ms: appendedAtMs,
      }));
      const rows = await slonik.any(finishBatches({ log, batches: JSON.stringify(values) }));
      return new Set(rows.map(({ partition }) => partition));
    },
  };
}

export type CheckpointStore = ReturnType<typeof createCheckpointStore>;
