import type pg from 'pg';
import { ConfigError } from '../../runtime/config.js';
import { assertPresent } from '../../runtime/failure.js';
import type { LogIdentity } from '../interface/event-log.js';
import { withSession } from '../../sql/session.js';
import { queryLog } from './connection.js';

/**
 * Few, because every partition costs its owner three small inserts per flush
 * (docs/internals/architecture.md 3.1), and the log of one machine is shared by a few processes at
 * most.
 */
const PARTITIONS_DEFAULT = 4;

type IdentityRow = { readonly log_id: string; readonly partition_count: number };

/**
 * The identity of the log in this database. Creates the log when there is none.
 * @throws ConfigError when the log has another number of partitions than `partitionsWanted`.
 */
export async function openPostgresLog(
  pool: pg.Pool,
  partitionsWanted: number | undefined,
): Promise<LogIdentity> {
  const [row] = await queryLog<IdentityRow>(pool, {
    name: 'open',
    text: 'SELECT log_id, partition_count FROM open_event_log($1)',
    values: [partitionsWanted ?? PARTITIONS_DEFAULT],
  });
  const { log_id: logId, partition_count: partitionCount } = assertPresent(row, 'the event log');
  if (partitionsWanted !== undefined && partitionsWanted !== partitionCount) {
    throw new ConfigError([
      `MINUTEBOOK_LOG_PARTITIONS is ${partitionsWanted}, but the log in PostgreSQL has ${partitionCount} partitions, and their number cannot change: remove the setting`,
    ]);
  }
  return { logId, partitionCount };
}

/**
 * Gives the log a new id and returns it. Must be called once after the database was restored from a
 * backup, before any program starts: offsets that were given out after the backup will be given out
 * again, to other records. The URL is the owner's, since no program may do this.
 * @throws DependencyError when the server cannot be reached.
 */
export async function renewPostgresLogId(url: string): Promise<string> {
  const { rows } = await withSession(url, (session) =>
    session.query<{ readonly log_id: string }>('SELECT renew_event_log_id() AS log_id'),
  );
  return assertPresent(rows[0], 'the event log').log_id;
}
