import { assertPresent } from '../../runtime/failure.js';
import { createLogPool, queryLog } from '../postgres/connection.js';

/**
 * The number of partitions of a log that all programs use: what was found when the log was first
 * opened. An event's partition follows from its id and this number, and a duplicate is looked for
 * there only; so partitions that were added to the topic later stay empty
 * (docs/internals/architecture.md 3.4).
 * @throws DependencyError when PostgreSQL cannot be reached.
 */
export type AgreePartitions = (logId: string, found: number) => Promise<number>;

const STATEMENT_TIMEOUT_MS = 10_000;

/** Agrees through the table `event_log_partition_counts` of the database. */
export function createAgreePartitions(databaseUrl: string): AgreePartitions {
  return async (logId, found) => {
    const connections = { connectionsMax: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
    const pool = createLogPool({ url: databaseUrl, ...connections });
    try {
      await queryLog(pool, {
        name: 'agree',
        text: `INSERT INTO event_log_partition_counts (log, partition_count) VALUES ($1, $2)
          ON CONFLICT DO NOTHING`,
        values: [logId, found],
      });
      // A statement of its own: an insert by another program may have been waited for.
      const [row] = await queryLog<{ readonly partition_count: number }>(pool, {
        name: 'agreed',
        text: 'SELECT partition_count FROM event_log_partition_counts WHERE log = $1',
        values: [logId],
      });
      return assertPresent(row, 'the agreed number of partitions').partition_count;
    } finally {
      await pool.end();
    }
  };
}
