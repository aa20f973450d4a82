import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../load-tests/harness/owner.js';
import { test } from '../load-tests/harness/fixtures.js';
import { formatInstant } from '../contract/instant.js';
import { createLog } from '../runtime/log.js';
import { createApiKey } from './api-key.js';
import { createApiKeyDirectory } from './api-keys.js';
import { bootstrap } from './bootstrap.js';
import { instantColumn } from './columns.js';
import { startKeyUses } from './key-uses.js';
import type { Database } from './pool.js';

const KEY = createApiKey('private_key');
const AT = Date.UTC(2026, 0, 20, 10);
const log = createLog('test', 'silent');

async function lastUse(database: Database): Promise<string | null> {
  const row = z.object({ at: instantColumn.nullable() });
  const { at } = await ownerOf(database).one(sql.type(row)`SELECT last_used_at AS at FROM secrets`);
  return at === null ? null : formatInstant(at);
}

describe('the last use of a key', () => {
  test('is written beside the requests, and by an orderly end', async ({
    database: { database },
  }) => {
    await bootstrap(database.url, { apiKey: KEY });
    let now = AT;
    const clock = { now: () => now };
    const uses = startKeyUses({ database, clock, log }, 20);
    const directory = createApiKeyDirectory(database, clock, { noteUse: uses.note });
    expect(await directory.find(KEY)).not.toBeNull();
    await vi.waitFor(async () => expect(await lastUse(database)).toBe('2026-01-20T10:00:00.000Z'));
    now += 60_000;
    directory.forget();
    expect(await directory.find(KEY)).not.toBeNull();
    await uses.stop();
    expect(await lastUse(database)).toBe('2026-01-20T10:01:00.000Z');
  });

  test('is never set back, nor held up by a database that does not answer', async ({
    database: { database },
  }) => {
    await bootstrap(database.url, { apiKey: KEY });
    const row = z.object({ id: z.string() });
    const { id } = await ownerOf(database).one(sql.type(row)`SELECT id FROM secrets`);
    for (const [at, seen] of [
      [AT, '2026-01-20T10:00:00.000Z'],
      [AT - 60_000, '2026-01-20T10:00:00.000Z'],
    ] as const) {
      const uses = startKeyUses({ database, clock: { now: () => at }, log });
      uses.note(id);
      uses.note('secret_unknown');
      await uses.stop();
      expect(await lastUse(database)).toBe(seen);
    }
    const broken = { slonik: { query: () => Promise.reject(new Error('down')) } };
    const uses = startKeyUses({
      database: broken as unknown as Database,
      clock: { now: () => AT },
      log,
    });
    uses.note(id);
    await expect(uses.stop()).resolves.toBeUndefined();
  });

  test('a key that was forgotten is looked up anew, also by whoever asked meanwhile', async ({
    database: { database },
  }) => {
    await bootstrap(database.url, { apiKey: KEY });
    const directory = createApiKeyDirectory(database, { now: () => AT });
    const early = directory.find(KEY);
    directory.forget();
    await early;
    await ownerOf(database).query(sql.type(z.unknown())`UPDATE secrets SET status = 'deleted'`);
    // What the look-up from before told is not kept.
    expect(await directory.find(KEY)).toBeNull();
  });
});
