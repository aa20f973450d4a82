import { Client } from 'pg';
import { boundStatements, closeClient, KEEP_ALIVE } from './driver/bounded-statements.js';
import { connectOutageOf, outageOf } from './outage.js';

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 60_000;
/** For statements that may wait for others, or work on whole tables: migrations, backups. */
export const PATIENT: SessionOptions = { statementTimeoutMs: 86_400_000 };

export type SessionOptions = {
  /** A longer statement is ended by the server, or here when the server does not answer. */
  readonly statementTimeoutMs?: number;
  /** How long the server may take to let the session in. */
  readonly connectTimeoutMs?: number;
};

/**
 * Runs `work` on a separate connection outside any pool. It is needed for advisory locks, CREATE
 * DATABASE and files with several statements. A statement may take a minute, unless told otherwise.
 * @throws DependencyError when PostgreSQL cannot be reached or fails.
 */
export async function withSession<T>(
  url: string,
  work: (session: Client) => Promise<T>,
  {
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
  }: SessionOptions = {},
): Promise<T> {
  const session = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    // A session that holds a lock says nothing for as long as its owner works elsewhere.
    ...KEEP_ALIVE,
    statement_timeout: statementTimeoutMs,
  });
  boundStatements(session, statementTimeoutMs);
  // Without a listener the event would end the process. A connection that was lost between two
  // statements fails the next one with an error that does not say why, so the first one is kept.
  const losses: Error[] = [];
  session.on('error', (error) => losses.push(error));
  try {
    await session.connect();
  } catch (error) {
    await closeClient(session).catch(() => undefined);
    throw connectOutageOf(error);
  }
  try {
    return await work(session);
  } catch (error) {
    throw losses.length === 0 ? outageOf(error) : connectOutageOf(losses[0]);
  } finally {
    await closeClient(session).catch(() => undefined);
  }
}

/**
 * Held by whoever counts stored events that are about to be removed, as erased or as expired, until
 * both books know of it: so no event is counted as both.
 */
export const EVENT_REMOVAL_LOCK = 'minutebook:remove-events';

/**
 * Runs `work` while holding an advisory lock, if nobody else holds it; null when somebody does. See
 * `withAdvisoryLock`.
 */
export function withFreeAdvisoryLock<T>(
  url: string,
  lock: string,
  work: (session: Client) => Promise<T>,
): Promise<T | null> {
  return withSession(url, async (session) => {
    const { rows } = await session.query<{ readonly is_free: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_free',
      [lock],
    );
    return rows[0]?.is_free === true ? work(session) : null;
  });
}

/** Work in a session that holds an advisory lock of the database; see `withAdvisoryLock`. */
export function holdingLock<T>(
  lock: string,
  work: (session: Client) => Promise<T>,
): (session: Client) => Promise<T> {
  return async (session) => {
    await session.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [lock]);
    return work(session);
  };
}

/**
 * Runs `work` while holding an advisory lock of the database; other processes wait for it, up to a
 * day. The server frees the lock when the session ends, however it ends.
 */
export function withAdvisoryLock<T>(
  url: string,
  lock: string,
  work: (session: Client) => Promise<T>,
): Promise<T> {
  return withSession(url, holdingLock(lock, work), PATIENT);
}
