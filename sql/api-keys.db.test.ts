import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../load-tests/harness/owner.js';
import { test, type DatabaseFixture } from '../load-tests/harness/fixtures.js';
import { FaultProxy } from '../load-tests/proofs/faults/engines/fault-proxy.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { DependencyError } from '../runtime/failure.js';
import { createApiKey, displayIdOf } from './api-key.js';
import { createApiKeyDirectory } from './api-keys.js';
import { bootstrap } from './bootstrap.js';
import { noRows } from './columns.js';
import { createDatabase, type Database } from './pool.js';

const KEY = createApiKey('private_key');

const change = (database: Database, assignment: 'revoked' | 'expires' | 'suspended') => {
  const statements = {
    revoked: sql.type(noRows)`UPDATE secrets SET status = 'deleted'`,
    expires: sql.type(noRows)`UPDATE secrets SET expires_at = '2026-11-20T10:00:00Z'`,
    suspended: sql.type(noRows)`UPDATE tenants SET status = 'suspended'`,
  };
  return ownerOf(database).query(statements[assignment]);
};

describe('API keys', () => {
  test('identify their caller', async ({ database: { database } }) => {
    const first = await bootstrap(database.url, { apiKey: KEY });
    const directory = createApiKeyDirectory(database, systemClock);
    expect(await directory.find(KEY)).toEqual({
      environment: first.environment,
      secretId: expect.stringMatching(/^secret_/),
      keyType: 'private_key',
      userId: first.userId,
      roles: ['super_admin'],
      isTenantSuspended: false,
    });
  });

  test('that are unknown or malformed identify nobody', async ({ database: { database } }) => {
    await bootstrap(database.url, { apiKey: KEY });
    const directory = createApiKeyDirectory(database, systemClock);
    expect(await directory.find(createApiKey('private_key'))).toBeNull();
    expect(await directory.find(`${KEY} `)).toBeNull();
    expect(await directory.find('')).toBeNull();
  });

  test('stop working within 2 seconds of being revoked', async ({ database: { database } }) => {
    await bootstrap(database.url, { apiKey: KEY });
    const directory = createApiKeyDirectory(database, systemClock);
    expect(await directory.find(KEY)).not.toBeNull();
    await change(database, 'revoked');
    await delay(2_000);
    expect(await directory.find(KEY)).toBeNull();
  });

  test('work within 2 seconds of their creation, even if tried before', async ({
    database: { database },
  }) => {
    const directory = createApiKeyDirectory(database, systemClock);
    expect(await directory.find(KEY)).toBeNull();
    await bootstrap(database.url, { apiKey: KEY });
    await delay(2_000);
    expect(await directory.find(KEY)).not.toBeNull();
  });

  test('stop working at the millisecond of their expiry', async ({ database: { database } }) => {
    await bootstrap(database.url, { apiKey: KEY });
    await change(database, 'expires');
    const expiry = Date.UTC(2026, 10, 20, 10);
    let now = expiry - 1;
    const clock: Clock = { now: () => now };
    const directory = createApiKeyDirectory(database, clock);
    expect(await directory.find(KEY)).not.toBeNull();
    now = expiry;
    expect(await directory.find(KEY)).toBeNull();
  });

  test('of a suspended tenant are marked as such', async ({ database: { database } }) => {
    await bootstrap(database.url, { apiKey: KEY });
    await change(database, 'suspended');
    const caller = await createApiKeyDirectory(database, systemClock).find(KEY);
    expect(caller?.isTenantSuspended).toBe(true);
  });

  test('are looked up once for many simultaneous requests', async ({ database: { url } }) => {
    const database = await createDatabase(url, { poolSize: 1 });
    await bootstrap(database.url, { apiKey: KEY });
    const directory = createApiKeyDirectory(database, systemClock);
    const questions = Array.from({ length: 1_000 }, () => Promise.resolve(directory.find(KEY)));
    const before = performance.now();
    const callers = await Promise.all(questions);
    expect(callers.every((caller) => caller !== null)).toBe(true);
    expect(new Set(callers).size).toBe(1);
    // 1,000 look-ups over one connection take about a second.
    expect(performance.now() - before).toBeLessThan(500);
    await database.close();
  });

  test('are never stored in a readable form', async ({ database: { database } }) => {
    await bootstrap(database.url, { apiKey: KEY });
    const rows = await ownerOf(database).any(
      sql.type(z.object({ row: z.string() }))`SELECT secrets::text AS row FROM secrets`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(KEY.slice(5));
    expect(rows[0]?.row).toContain(displayIdOf(KEY));
  });
});

/** Anything that is sent to PostgreSQL. */
const ANYTHING = /./s;

/** A directory behind a network that can fail, whose keys may be used stale for a while. */
async function directoryThatOutlasts({ url, database }: DatabaseFixture, forMs: number) {
  await bootstrap(database.url, { apiKey: KEY });
  const proxy = await FaultProxy.open(Number(new URL(url).port));
  const behind = await createDatabase(proxy.address(url), { poolSize: 2 });
  onTestFinished(async () => {
    await proxy.calm();
    // Connections that were lost meanwhile are reported by the end of the pool.
    await behind.close().catch(() => undefined);
    await proxy.close();
  });
  let uses = 0;
  const staleKeys = { forMs, noteUse: () => (uses += 1) };
  return {
    directory: createApiKeyDirectory(behind, systemClock, { staleKeys }),
    uses: () => uses,
    goAway: () => proxy.disturb({ kind: 'drop', match: ANYTHING, times: Infinity }),
    slowDown: (holdMs: number) =>
      proxy.disturb({ kind: 'slow', match: ANYTHING, times: Infinity, holdMs }),
    comeBack: () => proxy.calm(),
  };
}

/** Longer than a look-up is cached. */
const CACHE_ENDS_MS = 1_100;

describe('while PostgreSQL is away', () => {
  test('a known key is accepted as it was last read, and no other, until the time is over', async ({
    database,
  }) => {
    const { directory, goAway, uses } = await directoryThatOutlasts(database, 1_500);
    const caller = await directory.find(KEY);
    expect(caller).not.toBeNull();
    goAway();
    const other = createApiKey('private_key');
    await expect(directory.find(other)).rejects.toThrow(DependencyError);
    await delay(CACHE_ENDS_MS);
    const found = await Promise.all([directory.find(KEY), directory.find(KEY)]);
    expect(found).toEqual([caller, caller]);
    expect(uses()).toBe(1);
    expect(directory.wasFound(KEY)).toBe(true);
    await expect(directory.find(other)).rejects.toThrow(DependencyError);
    await delay(1_500);
    await expect(directory.find(KEY)).rejects.toThrow(DependencyError);
    expect(uses()).toBe(1);
  });

  test('a key that was revoked before stays refused', async ({ database }) => {
    const { directory, goAway } = await directoryThatOutlasts(database, 60_000);
    expect(await directory.find(KEY)).not.toBeNull();
    await change(database.database, 'revoked');
    await delay(CACHE_ENDS_MS);
    expect(await directory.find(KEY)).toBeNull();
    goAway();
    await delay(CACHE_ENDS_MS);
    await expect(directory.find(KEY)).rejects.toThrow(DependencyError);
  });

  test('a key that is revoked meanwhile is refused when PostgreSQL is back', async ({
    database,
  }) => {
    const { directory, goAway, comeBack } = await directoryThatOutlasts(database, 60_000);
    expect(await directory.find(KEY)).not.toBeNull();
    goAway();
    await change(database.database, 'revoked');
    await delay(CACHE_ENDS_MS);
    expect(await directory.find(KEY)).not.toBeNull();
    await comeBack();
    await delay(CACHE_ENDS_MS);
    expect(await directory.find(KEY)).toBeNull();
  });

  test('nobody waits for a slow answer, which counts as soon as it comes', async ({ database }) => {
    const { directory, slowDown } = await directoryThatOutlasts(database, 60_000);
    expect(await directory.find(KEY)).not.toBeNull();
    await change(database.database, 'revoked');
    await delay(CACHE_ENDS_MS);
    slowDown(2_000);
    const startedAt = performance.now();
    expect(await directory.find(KEY)).not.toBeNull();
    expect(performance.now() - startedAt).toBeLessThan(1_900);
    let found: unknown;
    await vi.waitFor(() => {
      found = directory.find(KEY);
      expect(directory.wasFound(KEY)).toBe(false);
    }, 5_000);
    // The key as it was last read is forgotten, although its second is not over.
    expect(found).toBeNull();
  });
});

describe('bootstrap', () => {
  const counts = sql.type(z.object({ tenants: z.number(), users: z.number(), keys: z.number() }))`
    SELECT (SELECT count(*)::int FROM tenants) AS tenants, (SELECT count(*)::int FROM users) AS users,
           (SELECT count(*)::int FROM secrets) AS keys`;

  test('creates one tenant, user and key when five processes start together', async ({
    database: { database },
  }) => {
    const runs = Array.from({ length: 5 }, () => bootstrap(database.url, { apiKey: KEY }));
    const made = await Promise.all(runs);
    expect(new Set(made.map((first) => first.environment.environmentId)).size).toBe(1);
    expect(await ownerOf(database).one(counts)).toEqual({ tenants: 1, users: 1, keys: 1 });
  });

  test('adds another key to the same tenant', async ({ database: { database } }) => {
    const other = createApiKey('private_key');
    const before = await bootstrap(database.url, { apiKey: KEY });
    const after = await bootstrap(database.url, { apiKey: other });
    expect(after).toEqual(before);
    expect(await ownerOf(database).one(counts)).toEqual({ tenants: 1, users: 1, keys: 2 });
  });

  test('does not revive a revoked key', async ({ database: { database } }) => {
    await bootstrap(database.url, { apiKey: KEY });
    await change(database, 'revoked');
    await bootstrap(database.url, { apiKey: KEY });
    expect(await createApiKeyDirectory(database, systemClock).find(KEY)).toBeNull();
  });

  test('refuses a key of another form', async ({ database: { database } }) => {
    const publishable = createApiKey('publishable_key');
    await expect(bootstrap(database.url, { apiKey: publishable })).rejects.toThrow('private key');
  });
});
