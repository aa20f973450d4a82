import { sql } from 'slonik';
import type { DatabaseTransactionConnection } from 'slonik';
import { z } from 'zod';
import { MEMBER_ALIVE_SECONDS } from '../../sql/aggregator-member.js';
import { integerColumn, noRows } from '../../sql/columns.js';
import { endUseOfLog } from '../../sql/log-in-use.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import { VerbRefused } from '../stack/verb-refused.js';

const countLiveMembers = statement('count-live-members', z.object({ found: integerColumn }));
const countUncountedRecords = statement(
  'count-uncounted-records',
  z.object({ log_id: z.string(), records: integerColumn }),
);
const ensureCheckpoints = statement('ensure-checkpoints', z.unknown());
const endsOfPartitions = sql.type(z.object({ end_offset: integerColumn }))`
  SELECT end_offset FROM event_log_bounds() ORDER BY partition`;
const trimCounted = statement('trim-counted-records', z.unknown());
/** Null when there is no log. */
const renewEventLogId = sql.type(z.object({ log_id: z.string().nullable() }))`
  SELECT renew_event_log_id() AS log_id`;

/** How long to wait for appends that are under way; each takes milliseconds. */
const LOCK_TIMEOUT_MS = 10_000;

/** @throws VerbRefused while an aggregator lives. */
export async function refuseWhileAggregatorsLive(
  connection: Pick<DatabaseTransactionConnection, 'one'>,
  verb: string,
): Promise<void> {
  const aliveSeconds = MEMBER_ALIVE_SECONDS;
  const { found } = await connection.one(countLiveMembers({ aliveSeconds }));
  if (found === 0) return;
  throw new VerbRefused(
    `${found} of the aggregators still run: stop every aggregator, wait ${aliveSeconds} seconds ` +
      `and run \`minutebook ${verb}\` again`,
  );
}

/**
 * Runs `work` while nobody can append to the log in PostgreSQL: what is under way is waited for,
 * and whoever comes later finds what `work` has changed, such as another id of the log. No
 * aggregator can take a partition meanwhile.
 */
function whileNobodyAppends<T>(
  database: Database,
  verb: string,
  work: (connection: DatabaseTransactionConnection) => Promise<T>,
): Promise<T> {
  const run = sql.type(noRows);
  return database.transaction(async (connection) => {
    await connection.query(
      run`SET LOCAL lock_timeout = ${sql.literalValue(String(LOCK_TIMEOUT_MS))}`,
    );
    // Every append reads this table first, and keeps its lock on it until it is committed.
    await connection.query(run`LOCK TABLE event_logs IN ACCESS EXCLUSIVE MODE`);
    await connection.query(
      run`LOCK TABLE aggregator_members, aggregator_checkpoints IN EXCLUSIVE MODE`,
    );
    await refuseWhileAggregatorsLive(connection, verb);
    return work(connection);
  });
}

/** How many records of the log in PostgreSQL are not counted; null when there is no log. */
async function uncounted(
  connection: Pick<DatabaseTransactionConnection, 'maybeOne'>,
): Promise<number | null> {
  const row = await connection.maybeOne(countUncountedRecords());
  return row?.records ?? null;
}

async function renewId(connection: Pick<DatabaseTransactionConnection, 'one'>): Promise<string> {
  const { log_id: logId } = await connection.one(renewEventLogId);
  if (logId === null) throw new VerbRefused('there is no log in PostgreSQL yet');
  return logId;
}

/**
 * Gives the log in PostgreSQL a new id, as after a restore (docs/operations.md 11): programs that
 * still know the old one are refused. Everything that the log holds is read under the new id. A log
 * that is in use stays in use.
 * @returns the new id. @throws VerbRefused while an aggregator lives, or when there is no log.
 */
export function renewPostgresLog(database: Database): Promise<string> {
  return whileNobodyAppends(database, 'log renew', renewId);
}

/**
 * Ends the log in PostgreSQL, of which everything is counted: whoever still writes to it is
 * refused, because it gets a new id, and under that id it begins where it ends now. So it may be
 * used again one day, and nothing in it waits to be counted. Its records go, but for the last batch
 * of each partition.
 * @returns the new id. @throws VerbRefused while an aggregator lives, or when a record is not
 *   counted.
 */
export function endPostgresLog(database: Database): Promise<string> {
  return whileNobodyAppends(database, 'log close', async (connection) => {
    const waiting = await uncounted(connection);
    if (waiting !== 0) throw stillUncounted(waiting ?? 0);
    // Nobody reads this log any more, so nobody would remove its records when their time is over.
    await connection.query(trimCounted());
    const log = await renewId(connection);
    await endUseOfLog(connection, log);
    const ends = await connection.anyFirst(endsOfPartitions);
    await connection.query(ensureCheckpoints({ log, starts: JSON.stringify(ends) }));
    return log;
  });
}

/** The refusal that says how many records wait, and how they are counted. */
export function stillUncounted(records: number): VerbRefused {
  return new VerbRefused(
    `${records} records of the log are not counted yet: stop ingest, start an aggregator with the ` +
      'settings of this log, wait until minutebook_partition_lag_records is 0 for every ' +
      'partition, stop it, and run `minutebook log close` again',
  );
}
