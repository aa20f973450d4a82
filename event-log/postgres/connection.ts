import pg from 'pg';
import { codeOf, DependencyError, messageOf } from '../../runtime/failure.js';
import { KEEP_ALIVE } from '../../sql/driver/bounded-statements.js';
import { PROGRAMS_OPTION, withServerOptions } from '../../sql/programs-role.js';
import { outageOfState } from '../../sql/sql-state.js';

/** A longer connection attempt fails; a local server answers in milliseconds. */
const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 60_000;

const SQL_STATE = /^[0-9A-Z]{5}$/;

/**
 * Turns any failure of a statement into a DependencyError. A failure without an SQLSTATE is one of
 * the connection (refused, reset, timed out), so a retry can help.
 */
export function logFailureOf(error: unknown): DependencyError {
  if (error instanceof DependencyError) return error;
  const code = codeOf(error) ?? '';
  return new DependencyError(`event log in PostgreSQL: ${messageOf(error)}`, {
    dependency: 'event-log',
    isRetryable: !SQL_STATE.test(code) || outageOfState(code) === 'retryable',
    cause: error,
  });
}

/** How the log's own connections are opened. */
export type LogConnections = {
  readonly url: string;
  readonly connectionsMax: number;
  /** A longer statement is cancelled by the server and fails here. */
  readonly statementTimeoutMs: number;
};

/**
 * A small pool directly on `pg`: the log runs a few different statements hundreds of times a
 * second, and every microsecond between them delays all callers of a group commit.
 */
export function createLogPool(options: LogConnections): pg.Pool {
  const pool = new pg.Pool({
    connectionString: withServerOptions(options.url, PROGRAMS_OPTION),
    max: options.connectionsMax,
    application_name: 'minutebook-event-log',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    ...KEEP_ALIVE,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + 500,
  });
  // A connection that the server drops is replaced at its next use, and a statement on it fails.
  // Without these listeners the error events would end the process; the pool's own listener covers
  // idle connections only.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  return pool;
}

/** Runs one statement. @throws DependencyError when it fails or is not answered in time. */
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
