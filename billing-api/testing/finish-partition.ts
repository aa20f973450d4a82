import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Database } from '../../sql/pool.js';

/** Says that a partition of a log is finished up to an offset, as the aggregator does. */
export async function finishPartition(
  database: Database,
  at: {
    readonly logId: string;
    readonly partition: number;
    readonly nextOffset: number;
    /** When the log appended the last batch; absent where that is not known. */
    readonly appendedAtMs?: InstantMs;
  },
): Promise<void> {
  const appendedAt = at.appendedAtMs === undefined ? null : formatInstant(at.appendedAtMs);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO aggregator_checkpoints
      (log, partition, next_offset, catalog_version, min_version, last_batch_appended_at)
    VALUES (${at.logId}, ${at.partition}, ${at.nextOffset}, 1, 1, ${appendedAt})
    ON CONFLICT (log, partition) DO UPDATE
      SET next_offset = greatest(aggregator_checkpoints.next_offset, ${at.nextOffset}),
        last_batch_appended_at = ${appendedAt}, intent_end = NULL`);
}

/** Says that a batch up to an offset may be in ClickHouse in part. */
export async function intendBatch(
  database: Database,
  at: { readonly logId: string; readonly partition: number; readonly end: number },
): Promise<void> {
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO aggregator_checkpoints (log, partition, intent_end, catalog_version, min_version)
    VALUES (${at.logId}, ${at.partition}, ${at.end}, 1, 1)
    ON CONFLICT (log, partition) DO UPDATE SET intent_end = ${at.end}`);
}

/** Completes the backfills of all meters: readers see what each has counted. */
export async function completeBackfills(database: Database): Promise<void> {
  await ownerOf(database).query(sql.type(z.unknown())`
    WITH completed AS (
      UPDATE meter_backfills SET status = 'completed', completed_at = now(), claimed_until = NULL
      WHERE status <> 'completed'
    ), read AS (
      UPDATE meters SET read_version = version WHERE read_version <> version
    )
    UPDATE meter_versions SET read_generations = ARRAY[generation]`);
}
