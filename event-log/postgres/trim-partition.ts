import type pg from 'pg';
import { queryLog } from './connection.js';

/** Batches removed by one statement. It takes about 10 ms; appends wait for the last part of it. */
const CHUNK_BATCHES = 500;
/** The most chunks of one partition in a round, so that the other partitions get their turn. */
const CHUNKS_MAX = 100;

/** Records of one partition below an offset, all of them finished. */
type Finished = {
  readonly partition: number;
  readonly nextOffset: number;
  /** How long they are kept at least. */
  readonly retentionMs: number;
  /** Ends the round after the chunk that is being removed. */
  readonly signal: AbortSignal;
};

/**
 * Removes finished records that are older than the retention, in chunks, each in a transaction of
 * its own; never the last batch. May be repeated, and broken off anywhere. @throws DependencyError.
 */
export async function trimPartition(
  pool: pg.Pool,
  { partition, nextOffset, retentionMs, signal }: Finished,
): Promise<void> {
  for (let chunk = 0; chunk < CHUNKS_MAX && !signal.aborted; chunk += 1) {
    const rows = await queryLog<{ readonly removed: number }>(pool, {
      name: 'trim',
      text: `SELECT trim_event_log($1, $2, $3 * interval '1 millisecond', $4) AS removed`,
      values: [partition, nextOffset, retentionMs, CHUNK_BATCHES],
    });
    if ((rows[0]?.removed ?? 0) < CHUNK_BATCHES) return;
  }
}
