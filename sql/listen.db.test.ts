import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { test } from '../load-tests/harness/fixtures.js';
import { ownerOf } from '../load-tests/harness/owner.js';
import { listen } from './listen.js';

const WAIT = { timeout: 10_000, interval: 10 };

describe('listen', () => {
  test('receives the notices meant for it, also after its session was ended', async ({
    database,
  }) => {
    const { slonik } = database.database;
    const tell = (payload: string): Promise<unknown> =>
      slonik.query(sql.type(z.unknown())`SELECT pg_notify('test_channel', ${payload})`);
    let heard = 0;
    const listening = listen(database.url, { channel: 'test_channel', payload: 'us' }, () => {
      heard += 1;
    });
    await vi.waitFor(() => {
      expect(heard).toBe(1);
    }, WAIT);
    await tell('others');
    await tell('us');
    await vi.waitFor(() => {
      expect(heard).toBe(2);
    }, WAIT);
    await ownerOf(database.database).query(sql.type(z.unknown())`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'LISTEN%'`);
    await vi.waitFor(() => {
      expect(heard).toBe(3);
    }, WAIT);
    await tell('us');
    await vi.waitFor(() => {
      expect(heard).toBe(4);
    }, WAIT);
    await listening.close();
  });
});
