import { describe, expect } from 'vitest';
import { test } from '../load-tests/harness/fixtures.js';
import { withSession } from './session.js';

describe('a session whose connection is lost', () => {
  test('reports an outage when it was lost between two statements', async ({ database }) => {
    const using = withSession(database.url, async (session) => {
      const ended = new Promise((resolve) => session.once('end', resolve));
      const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await withSession(database.url, (other) =>
        other.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]),
      );
      await ended;
      await session.query('SELECT 1');
    });
    await expect(using).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: true,
      message: 'PostgreSQL: terminating connection due to administrator command',
    });
  });

  test('reports what the work itself throws as long as the connection holds', async ({
    database,
  }) => {
    const using = withSession(database.url, () => Promise.reject(new Error('of the work')));
    await expect(using).rejects.toThrow('of the work');
  });
});
