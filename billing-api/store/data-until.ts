import { sql } from 'slonik';
import { z } from 'zod';
import type { InstantMs } from '../../contract/instant.js';
import { instantColumn } from '../../sql/columns.js';
import type { BillingDatabase } from './transaction.js';

/** Events received before this instant are in every number that is read from now on. */
export type ReadDataUntil = () => Promise<InstantMs | null>;

const pendingRow = z.object({
  asked_at: instantColumn,
  is_known: z.boolean(),
  pending_since: instantColumn.nullable(),
});

/**
 * The watermark of the log in PostgreSQL. Every record that was appended before the oldest
 * unfinished one, and before now, is counted; a record is appended at most `inFlightMs` (the time
 * in which ingest gives up) after its events were received, or they were never answered 202. So
 * events that were received `inFlightMs` before are counted, as far as the clocks of the servers
 * agree. Null when the log is elsewhere: the checkpoint alone cannot tell a partition that is idle
 * from one that lags.
 */
export function createPostgresDataUntil(
  database: BillingDatabase,
  inFlightMs: number,
): ReadDataUntil {
  return async () => {
    const row = await database.slonik.one(sql.type(pendingRow)`
      SELECT clock_timestamp()::timestamptz(3) AS asked_at,
        count(p.partition) > 0 AS is_known, min(pending.appended_at) AS pending_since
      FROM (SELECT) AS always
      LEFT JOIN event_logs l ON true
      LEFT JOIN event_log_partitions p ON l.log_id IS NOT NULL
      LEFT JOIN aggregator_checkpoints c ON c.log = l.log_id AND c.partition = p.partition
      LEFT JOIN LATERAL (
        SELECT b.appended_at FROM event_log_batches b
        WHERE b.partition = p.partition AND b.end_offset > coalesce(c.next_offset, 0)
        ORDER BY b.end_offset LIMIT 1
      ) AS pending ON true`);
    if (!row.is_known) return null;
    return Math.min(row.asked_at, row.pending_since ?? row.asked_at) - inFlightMs;
  };
}
