import { Client } from 'pg';
import { describe, expect } from 'vitest';
import { test } from '../load-tests/harness/fixtures.js';
import { asynchronousStandbys } from './standbys.js';

describe('asynchronous standbys', () => {
  test('are warned of as soon as one is connected', async ({ database: { url, database } }) => {
    expect(await asynchronousStandbys(database)).toBeNull();
    const standby = new URL(url);
    // As the process of a standby that receives the log of the server.
    standby.searchParams.set('replication', 'true');
    const client = new Client({ connectionString: standby.href });
    await client.connect();
    expect(await asynchronousStandbys(database)).toContain(
      'has 1 standbys, all of them asynchronous',
    );
    await client.end();
  });
});
