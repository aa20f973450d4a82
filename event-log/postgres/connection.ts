import pg from 'pg';
import { codeOf, DependencyError, messageOf } from '../../runtime/failure.js';

/** A connection attempt that takes longer is given up; a local server answers in milliseconds. */
const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 60_000;

/**
 * SQLSTATEs that a later try can overcome: 08 connection, 25006 a standby before its promotion, 40
 * rolled back by the server, 53 resources, 55P03 and 57014 waited too long, 57P0x shutting down or
 * starting.
 */
const RETRYABLE_STATE = /^(08...|25006|40...|53...|55P03|57014|57P0.)$/;
const SQL_STATE = /^[0-9A-Z]{5}$/;

/**
 * Any failure of the log's statements as a DependencyError. Without an SQLSTATE the connection
 * itself failed (refused, reset, timed out), which is worth another try.
 */
export function logFailureOf(error: unknown): DependencyError {
  if (error instanceof DependencyError) return error;
  const code = codeOf(error) ?? '';
  return new DependencyError(`event log in PostgreSQL: ${messageOf(error)}`, {
    dependency: 'event-log',
    isRetryable: !SQL_STATE.test(code) || RETRYABLE_STATE.test(code),
    cause: error,
  });
}

/** How the log's own connections are opened. */
export type LogConnections = {
  readonly url: string;
  readonly connectionsMax: number;
  /** A statement that takes longer is given up on both sides. */
  readonly statementTimeoutMs: number;
};

/**
 * A small pool on `pg` itself: the paths of the log are a handful of statements a second by
 * hundreds, and every microsecond between them delays all callers of a group commit.
 */
export function createLogPool(options: LogConnections): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    application_name: 'minutebook-event-log',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + 500,
  });
  // A connection that the server drops is replaced at the next use, and a statement on it fails by
  // itself; without listeners the events would end the process. The pool's own listener covers
  // idle connections only.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  return pool;
}

/** Runs one statement. @throws DependencyError, also when the server does not answer in time. */
export async function queryLog<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  query: { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
): Promise<readonly Row[]> {
  try {
    const result = await pool.query<Row>({ ...query, values: [...query.values] });
    return result.rows;
  } catch (error) {
    throw logFailureOf(error);
  }
}
