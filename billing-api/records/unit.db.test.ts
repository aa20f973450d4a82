import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { bootstrap } from '../../sql/bootstrap.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import type { Caller } from './caller.js';
import { Refusal } from './refusal.js';
import { readUnit, writeUnit, type Unit, type WriteDependencies } from './unit.js';
import { testCaller } from '../testing/test-caller.js';

const NOW = Date.UTC(2026, 10, 20);

async function callerOn(database: Database): Promise<[WriteDependencies, Caller]> {
  const { environment, userId } = await bootstrap(database.url, { apiKey: `sk_${'a'.repeat(40)}` });
  let ids = 0;
  const createId = (prefix: string): string => `${prefix}_${(ids += 1)}`;
  const dependencies = { database, clock: { now: () => NOW }, createId };
  return [dependencies, testCaller({ environment, userId })];
}

async function insertCustomer({ tx, caller, newId }: Unit, name: string): Promise<string> {
  const { tenantId, environmentId } = caller.environment;
  const id = newId('cust');
  await tx.query(sql.type(z.object({}))`
    INSERT INTO customers (id, tenant_id, environment_id, external_id, name, metadata, status,
      created_at, updated_at)
    VALUES (${id}, ${tenantId}, ${environmentId}, ${name}, ${name}, '{}', 'published', now(),
      now())`);
  return id;
}

const namesOf = sql.type(z.object({ name: z.string() }))`SELECT name FROM customers ORDER BY name`;
const backendPid = sql.type(z.object({ pid: z.number() }))`SELECT pg_backend_pid() AS pid`;

describe('a read unit', () => {
  test('does not see at its second statement what was committed since its first', async ({
    database: { database },
  }) => {
    const [dependencies, caller] = await callerOn(database);
    const [before, after] = await readUnit(dependencies, caller.environment, async ({ tx }) => {
      const first = await tx.any(namesOf);
      await writeUnit(dependencies, caller, (unit) => insertCustomer(unit, 'meanwhile'));
      return [first, await tx.any(namesOf)];
    });
    expect([before, after]).toEqual([[], []]);
    const next = await readUnit(dependencies, caller.environment, ({ tx }) => tx.any(namesOf));
    expect(next).toEqual([{ name: 'meanwhile' }]);
  });

  test('can neither write nor lock', async ({ database: { database } }) => {
    const [dependencies, caller] = await callerOn(database);
    const inRead = (statement: Parameters<Unit['tx']['query']>[0]) =>
      readUnit(dependencies, caller.environment, ({ tx }) => tx.query(statement));
    const writing = inRead(sql.type(z.object({}))`UPDATE customers SET name = 'x'`);
    await expect(writing).rejects.toThrow('a transaction that only reads writes or locks');
    const locking = inRead(sql.type(z.unknown())`SELECT * FROM customers FOR SHARE`);
    await expect(locking).rejects.toThrow('a transaction that only reads writes or locks');
  });

  test('leaves its connection as it was, also when its work throws', async ({
    database: { url },
  }) => {
    const database = await createDatabase(url, { poolSize: 1 });
    const [dependencies, caller] = await callerOn(database);
    const failing = readUnit(dependencies, caller.environment, () =>
      Promise.reject(new Error('broken')),
    );
    await expect(failing).rejects.toThrow('broken');
    await readUnit(dependencies, caller.environment, ({ tx }) => tx.any(namesOf));
    const session = await ownerOf(database).one(sql.type(z.unknown())`
      SELECT current_user = session_user AS is_owner,
        coalesce(current_setting('minutebook.tenant_id', true), '') AS tenant,
        current_setting('transaction_isolation') AS isolation,
        current_setting('transaction_read_only') AS read_only`);
    await database.close();
    const isolation = 'read committed';
    expect(session).toEqual({ is_owner: true, tenant: '', isolation, read_only: 'off' });
  });
});

describe('a write unit', () => {
  test('answers what its own transaction has read', async ({ database: { database } }) => {
    const [dependencies, caller] = await callerOn(database);
    const answer = await writeUnit(dependencies, caller, async (unit) => {
      const id = await insertCustomer(unit, 'new');
      return { id, now: unit.now, names: await unit.tx.any(namesOf) };
    });
    expect(answer).toEqual({ id: 'cust_1', now: NOW, names: [{ name: 'new' }] });
  });

  test('keeps nothing when it is refused, and its connection goes on', async ({
    database: { url },
  }) => {
    const database = await createDatabase(url, { poolSize: 1 });
    const [dependencies, caller] = await callerOn(database);
    const before = await ownerOf(database).one(backendPid);
    const refusal = new Refusal('invalid_operation', 'no');
    const answer = await writeUnit(dependencies, caller, async (unit) => {
      await insertCustomer(unit, 'refused');
      return refusal;
    });
    const after = await ownerOf(database).one(backendPid);
    const stored = await ownerOf(database).any(namesOf);
    await database.close();
    expect(answer).toBe(refusal);
    expect(stored).toEqual([]);
    expect(after).toEqual(before);
  });

  test('keeps nothing when its work throws', async ({ database: { database } }) => {
    const [dependencies, caller] = await callerOn(database);
    const failing = writeUnit(dependencies, caller, async (unit) => {
      await insertCustomer(unit, 'lost');
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    expect(await ownerOf(database).any(namesOf)).toEqual([]);
  });
});
