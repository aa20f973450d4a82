import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { test } from '../../../load-tests/harness/fixtures.js';
import { bootstrap } from '../../../sql/bootstrap.js';
import type { Database } from '../../../sql/pool.js';
import { createPlan } from '../../catalog/plans/plan-operations.js';
import { isRefusal } from '../../records/refusal.js';
import {
  claimKey,
  removeExpiredKeys,
  storeAnswer,
  type RequestIdentity,
} from './idempotency-store.js';
import { testOccasion } from '../../testing/test-occasion.js';

const NOW = Date.UTC(2026, 10, 20);
const LATER = NOW + 100_000;
const REQUEST: RequestIdentity = {
  key: 'k',
  method: 'POST',
  path: '/v1/plans',
  hash: 'ab'.repeat(32),
};

async function environmentOf(database: Database) {
  return bootstrap(database.url, { apiKey: `sk_${'a'.repeat(40)}` });
}

const statesOf = (database: Database) =>
  ownerOf(database).anyFirst(
    sql.type(z.object({ state: z.string() }))`SELECT state FROM idempotency_keys`,
  );

const plansOf = (database: Database) =>
  ownerOf(database).anyFirst(sql.type(z.object({ name: z.string() }))`SELECT name FROM plans`);

describe('a claimed request', () => {
  test('is marked as applied by the transaction that writes', async ({ database }) => {
    const { environment, userId } = await environmentOf(database.database);
    const command = { environment, request: REQUEST, claimId: 'one', now: NOW };
    const claimed = await claimKey(database.database, command);
    expect(claimed).toEqual({ outcome: 'claimed', claim: { key: 'k', claimId: 'one' } });
    const dependencies = {
      database: database.database,
      clock: { now: () => NOW },
      createId: (prefix: string) => `${prefix}_1`,
    };
    const occasion = testOccasion({ environment, userId, claim: { key: 'k', claimId: 'one' } });
    const plan = await createPlan(dependencies, occasion, { name: 'Pro' });
    expect(isRefusal(plan)).toBe(false);
    expect(await statesOf(database.database)).toEqual(['applied']);
    const repeat = { ...command, claimId: 'two', now: LATER };
    expect(await claimKey(database.database, repeat)).toEqual({ outcome: 'lost' });
  });

  test('writes nothing once its claim was taken over', async ({ database }) => {
    const { environment, userId } = await environmentOf(database.database);
    const command = { environment, request: REQUEST, claimId: 'one', now: NOW };
    await claimKey(database.database, command);
    const taken = await claimKey(database.database, { ...command, claimId: 'two', now: LATER });
    expect(taken.outcome).toBe('claimed');
    const dependencies = {
      database: database.database,
      clock: { now: () => LATER },
      createId: (prefix: string) => `${prefix}_1`,
    };
    const claim = { key: 'k', claimId: 'one' };
    const late = testOccasion({ environment, userId, claim });
    await expect(createPlan(dependencies, late, { name: 'Late' })).rejects.toThrow('taken over');
    expect(await plansOf(database.database)).toEqual([]);
    const answer = { claim, answer: { status: 201, headers: {}, body: '{}' } };
    await storeAnswer(database.database, environment, answer);
    expect(await statesOf(database.database)).toEqual(['running']);
  });

  test('is forgotten after 24 hours', async ({ database }) => {
    const { environment } = await environmentOf(database.database);
    await claimKey(database.database, { environment, request: REQUEST, claimId: 'one', now: NOW });
    await removeExpiredKeys(database.database.slonik, { now: NOW + 86_399_999, rowsMax: 10 });
    expect(await statesOf(database.database)).toHaveLength(1);
    await removeExpiredKeys(database.database.slonik, {
      now: NOW + 86_400_000,
      rowsMax: 10,
    });
    expect(await statesOf(database.database)).toEqual([]);
  });

  test('is removed in batches of a size', async ({ database }) => {
    const { environment } = await environmentOf(database.database);
    await ownerOf(database.database).query(sql.type(z.unknown())`
      INSERT INTO idempotency_keys
        (tenant_id, environment_id, key, method, path, body_hash, state, claim_id, claimed_at, expires_at)
      SELECT ${environment.tenantId}, ${environment.environmentId}, 'k' || n, 'POST', '/', ''::bytea,
        'running', n::text, '2026-11-01', CASE WHEN n <= 25 THEN '2026-11-02' ELSE '2200-01-01' END::timestamptz
      FROM generate_series(1, 27) n`);
    const removed = await removeExpiredKeys(database.database.slonik, {
      now: NOW,
      rowsMax: 4,
    });
    expect([removed, (await statesOf(database.database)).length]).toEqual([4, 23]);
  });
});
