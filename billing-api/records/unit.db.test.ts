import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { DAY_MS, type InstantMs } from '../../contract/instant.js';
import { makeKey } from '../../load-tests/harness/make-key.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { PLANS } from '../declarations/catalog/plan.resource.js';
import { bootstrap } from '../../sql/bootstrap.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { createRecord } from './create-record.js';
import type { Actor, Occasion, RequestActor } from './occasion.js';
import { isRefusal, Refusal, Refused } from './refusal.js';
import {
  mustRead,
  mustWrite,
  readUnit,
  type Unit,
  type WriteDependencies,
  writeUnit,
} from './unit.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { testOccasion } from '../testing/test-occasion.js';

const NOW = Date.UTC(2026, 10, 20);

async function occasionOn(
  database: Database,
): Promise<[WriteDependencies, Occasion<RequestActor>]> {
  const { environment, userId } = await bootstrap(database.url, { apiKey: `sk_${'a'.repeat(40)}` });
  let ids = 0;
  const createId = (prefix: string): string => `${prefix}_${(ids += 1)}`;
  const dependencies = { database, clock: { now: () => NOW }, createId };
  return [dependencies, testOccasion({ environment, userId })];
}

async function insertCustomer({ tx, environment, newId }: Unit, name: string): Promise<string> {
  const { tenantId, environmentId } = environment;
  const id = newId('cust');
  await tx.query(sql.type(z.object({}))`
    INSERT INTO customers (id, tenant_id, environment_id, external_id, name, metadata, status,
      created_at, updated_at)
    VALUES (${id}, ${tenantId}, ${environmentId}, ${name}, ${name}, '{}', 'published', now(),
      now())`);
  return id;
}

const namesOf = sql.type(z.object({ name: z.string() }))`SELECT name FROM customers ORDER BY name`;
const countsRow = z.object({ customers: z.number(), plans: z.number(), entries: z.number() });
const backendPid = sql.type(z.object({ pid: z.number() }))`SELECT pg_backend_pid() AS pid`;

const SPRING = Date.parse('2027-03-01T00:00:00.123Z');

describe('the instant of a unit', () => {
  test('is that of the test clock from its next transaction on, and of the machine without one', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const { environment } = occasion;
    const shown = async (): Promise<unknown> => [
      await readUnit(dependencies, occasion, async ({ tx, now }) => [now, await tx.any(namesOf)]),
      await writeUnit(dependencies, occasion, async ({ tx, now }) => [now, await tx.any(namesOf)]),
    ];
    const all = (now: InstantMs) => [
      [now, []],
      [now, []],
    ];
    expect(await shown()).toEqual(all(NOW));
    for (const now of [SPRING, SPRING + DAY_MS, SPRING - DAY_MS]) {
      await setTestClock(database, environment, now);
      expect(await shown()).toEqual(all(now));
    }
    await setTestClock(database, environment, null);
    expect(await shown()).toEqual(all(NOW));
  });

  test('follows the test clock also where nothing is read, or a refusal ends it', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    await setTestClock(database, occasion.environment, SPRING);
    const read = await readUnit(dependencies, occasion, ({ now }) => Promise.resolve(now));
    await setTestClock(database, occasion.environment, SPRING + 1);
    const refused = await writeUnit(dependencies, occasion, ({ now }) =>
      Promise.reject(new Refused(new Refusal('invalid_operation', String(now)))),
    );
    expect([read, refused]).toMatchObject([SPRING, { message: String(SPRING + 1) }]);
    await setTestClock(database, occasion.environment, SPRING + 2);
    const kept = await writeUnit(dependencies, occasion, ({ now }) => Promise.resolve(now));
    expect(kept).toBe(SPRING + 2);
  });

  test('is not that of the test clock of another environment', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const other = await makeKey(database, {});
    await setTestClock(database, other.environment, SPRING);
    const nowIn = (environment: Environment) =>
      readUnit(dependencies, { environment }, ({ now }) => Promise.resolve(now));
    expect(await nowIn(occasion.environment)).toBe(NOW);
    expect(await nowIn(other.environment)).toBe(SPRING);
  });

  test('is the one that is handed in, such as that at which a job was due', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    await setTestClock(database, occasion.environment, SPRING);
    const due = { ...occasion, at: SPRING - DAY_MS };
    const read = await readUnit(dependencies, due, ({ now }) => Promise.resolve(now));
    const written = await writeUnit(dependencies, due, ({ now }) => Promise.resolve(now));
    expect([read, written]).toEqual([due.at, due.at]);
  });

  test('costs no statement of its own, and a clock that has moved costs one beginning', async ({
    database: { url },
  }) => {
    const database = await createDatabase(url, { poolSize: 1 });
    const [dependencies, occasion] = await occasionOn(database);
    await setTestClock(database, occasion.environment, SPRING);
    let runs = 0;
    const run = () =>
      writeUnit(dependencies, occasion, async ({ tx, now }) => {
        runs += 1;
        return [now, (await tx.one(backendPid)).pid];
      });
    const [first, second] = [await run(), await run()];
    await database.close();
    // The second time it is known; the connection has stayed the same all the while.
    expect([runs, first]).toEqual([3, second]);
  });
});

const claimRow = z.object({ state: z.string() });

describe('the actor of a write unit', () => {
  const JOB = { kind: 'job', job: 'renewals', runId: 'run_1' } as const;
  const OPERATOR = { kind: 'operator', name: 'ada' } as const;
  const PLAN = { description: null, lookup_key: null, display_order: null, metadata: {} };

  test('stands in the audit trail as what it is, and in the record that it writes', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const { environment, actor } = occasion;
    const madeBy = async (by: Actor) => {
      const made = await writeUnit(dependencies, { environment, actor: by }, (unit) =>
        createRecord(unit, PLANS, { name: by.kind, ...PLAN }),
      );
      if (isRefusal(made)) throw new Error(made.message);
      return [made.created_by, made.updated_by];
    };
    expect([await madeBy(actor), await madeBy(JOB), await madeBy(OPERATOR)]).toEqual([
      [actor.userId, actor.userId],
      ['job:renewals', 'job:renewals'],
      ['operator:ada', 'operator:ada'],
    ]);
    const entries = await ownerOf(database).any(sql.type(z.unknown())`
      SELECT actor_kind, actor_name, run_id, user_id, request_id FROM audit_entries ORDER BY id`);
    const nobody = { actor_name: null, run_id: null, user_id: null, request_id: null };
    expect(entries).toEqual([
      { ...nobody, actor_kind: 'request', user_id: actor.userId, request_id: 'request_1' },
      { ...nobody, actor_kind: 'job', actor_name: 'renewals', run_id: 'run_1' },
      { ...nobody, actor_kind: 'operator', actor_name: 'ada' },
    ]);
  });

  test('marks its claim together with the change, and a job or an operator has none to mark', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const { environment, actor } = occasion;
    const { tenantId, environmentId } = environment;
    const claim = { key: 'key_1', claimId: 'claim_1' };
    await ownerOf(database).query(sql.type(z.object({}))`
      INSERT INTO idempotency_keys (tenant_id, environment_id, key, method, path, body_hash, state,
        claim_id, claimed_at, expires_at)
      VALUES (${tenantId}, ${environmentId}, ${claim.key}, 'POST', '/', '', 'running',
        ${claim.claimId}, now(), now())`);
    const state = async () =>
      (await ownerOf(database).one(sql.type(claimRow)`SELECT state FROM idempotency_keys`)).state;
    const insertBy = (by: Actor, name: string) =>
      writeUnit(dependencies, { environment, actor: by }, (unit) => insertCustomer(unit, name));
    await insertBy(JOB, 'by a job');
    await insertBy(OPERATOR, 'by an operator');
    expect(await state()).toBe('running');
    await insertBy({ ...actor, claim }, 'by a request');
    expect(await state()).toBe('applied');
    // Whoever has lost the claim loses the change with it.
    await expect(insertBy({ ...actor, claim }, 'too late')).rejects.toThrow('taken over');
    const names = (await ownerOf(database).any(namesOf)).map(({ name }) => name);
    expect(names).toEqual(['by a job', 'by a request', 'by an operator']);
  });
});

describe('a read unit', () => {
  test('does not see at its second statement what was committed since its first', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const [before, after] = await mustRead(dependencies, occasion, async ({ tx }) => {
      const first = await tx.any(namesOf);
      await writeUnit(dependencies, occasion, (unit) => insertCustomer(unit, 'meanwhile'));
      return [first, await tx.any(namesOf)];
    });
    expect([before, after]).toEqual([[], []]);
    const next = await readUnit(dependencies, occasion, ({ tx }) => tx.any(namesOf));
    expect(next).toEqual([{ name: 'meanwhile' }]);
  });

  test('can neither write nor lock', async ({ database: { database } }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const inRead = (statement: Parameters<Unit['tx']['query']>[0]) =>
      readUnit(dependencies, occasion, ({ tx }) => tx.query(statement));
    const writing = inRead(sql.type(z.object({}))`UPDATE customers SET name = 'x'`);
    await expect(writing).rejects.toThrow('a transaction that only reads writes or locks');
    const locking = inRead(sql.type(z.unknown())`SELECT * FROM customers FOR SHARE`);
    await expect(locking).rejects.toThrow('a transaction that only reads writes or locks');
  });

  test('leaves its connection as it was, also when its work throws', async ({
    database: { url },
  }) => {
    const database = await createDatabase(url, { poolSize: 1 });
    const [dependencies, occasion] = await occasionOn(database);
    const failing = readUnit(dependencies, occasion, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    await readUnit(dependencies, occasion, ({ tx }) => tx.any(namesOf));
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
    const [dependencies, occasion] = await occasionOn(database);
    const answer = await writeUnit(dependencies, occasion, async (unit) => {
      const id = await insertCustomer(unit, 'new');
      return { id, now: unit.now, names: await unit.tx.any(namesOf) };
    });
    expect(answer).toEqual({ id: 'cust_1', now: NOW, names: [{ name: 'new' }] });
  });

  test('keeps nothing when it is refused, and its connection goes on', async ({
    database: { url },
  }) => {
    const database = await createDatabase(url, { poolSize: 1 });
    const [dependencies, occasion] = await occasionOn(database);
    const before = await ownerOf(database).one(backendPid);
    const refusal = new Refusal('invalid_operation', 'no');
    const answer = await writeUnit(dependencies, occasion, async (unit) => {
      await insertCustomer(unit, 'refused');
      throw new Refused(refusal);
    });
    const after = await ownerOf(database).one(backendPid);
    const stored = await ownerOf(database).any(namesOf);
    await database.close();
    expect(answer).toBe(refusal);
    expect(stored).toEqual([]);
    expect(after).toEqual(before);
  });

  test('keeps nothing of what was written before a refusal deep within it, and answers its body', async ({
    database: { database },
  }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const pro = { name: 'Pro', description: null, lookup_key: 'pro', display_order: null };
    const store = (unit: Unit) => createRecord(unit, PLANS, pro);
    const storeTwice = async (unit: Unit) => [await store(unit), await store(unit)];
    const answer = await writeUnit(dependencies, occasion, async (unit) => {
      await insertCustomer(unit, 'before');
      const plans = await storeTwice(unit);
      await insertCustomer(unit, 'after');
      return plans;
    });
    const taken = { lookup_key: 'is taken' };
    const problem = 'a plan with this lookup_key exists already; choose another';
    expect(answer).toEqual(new Refusal('already_exists', problem, taken));
    const counted = await ownerOf(database).one(sql.type(countsRow)`
      SELECT (SELECT count(*)::integer FROM customers) AS customers,
        (SELECT count(*)::integer FROM plans) AS plans,
        (SELECT count(*)::integer FROM audit_entries) AS entries`);
    expect(counted).toEqual({ customers: 0, plans: 0, entries: 0 });
    const nobody = mustWrite(dependencies, occasion, storeTwice);
    await expect(nobody).rejects.toEqual(
      new Refused(new Refusal('already_exists', problem, taken)),
    );
    expect(await mustWrite(dependencies, occasion, store)).toMatchObject({ name: 'Pro' });
  });

  test('keeps nothing when its work throws', async ({ database: { database } }) => {
    const [dependencies, occasion] = await occasionOn(database);
    const failing = writeUnit(dependencies, occasion, async (unit) => {
      await insertCustomer(unit, 'lost');
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    expect(await ownerOf(database).any(namesOf)).toEqual([]);
  });
});
