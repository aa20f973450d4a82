import { withSession } from '../../sql/session.js';

/**
 * Does to a database what a failover does: all connections break, and the node that answers next
 * only reads, or writes again.
 */
export async function failOver(url: string, to: 'reading' | 'writing'): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const setting = to === 'reading' ? 'on' : 'off';
  await withSession(url, async (session) => {
    await session.query('SET default_transaction_read_only = off');
    await session.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${setting}`);
    await session.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  });
}
