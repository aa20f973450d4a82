import { Client } from 'pg';
import { connectOutageOf, outageOf } from './outage.js';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Runs `work` on a connection of its own, outside any pool: for what belongs to a session, such as
 * advisory locks, CREATE DATABASE and files of several statements.
 * @throws DependencyError when PostgreSQL cannot be reached or fails.
 */
export async function withSession<T>(
  url: string,
  work: (session: Client) => Promise<T>,
): Promise<T> {
  const session = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // The statement that is running reports the same loss; an unheard event would end the process.
  session.on('error', () => undefined);
  try {
    await session.connect();
  } catch (error) {
    await session.end().catch(() => undefined);
    throw connectOutageOf(error);
  }
  try {
    return await work(session);
  } catch (error) {
    throw outageOf(error);
  } finally {
    await session.end().catch(() => undefined);
  }
}

/**
 * Runs `work` while no other process of this database runs work under the same lock; the others
 * wait. The server frees the lock when the session ends, however it ends.
 */
export function withAdvisoryLock<T>(
  url: string,
  lock: string,
  work: (session: Client) => Promise<T>,
): Promise<T> {
  return withSession(url, async (session) => {
    await session.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [lock]);
    return work(session);
  });
}
