import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { systemClock } from '../../runtime/clock.js';
import { createDatabase } from '../../sql/pool.js';
import type { Reading } from '../records/occasion.js';
import { test } from '../testing/billing-test.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { readDefinitions, type NamedInRequest } from './usage-definitions.js';

const NOBODY: NamedInRequest = { meterIds: [], externalIds: [], customerId: null };
const OTHER = { environment: { tenantId: 'tenant_other', environmentId: 'env_other' } };
const roleRow = z.object({ role: z.string(), tenant: z.string().nullable() });

/** No log, no watermark: one is read along only where the log is in PostgreSQL. */
const dataUntil = () => Promise.resolve(null);

describe('what a usage query must know', () => {
  test('comes from the environment that asks, customers by either id', async ({
    api,
    database: { database },
  }) => {
    const meter = await api.make('/v1/meters', {
      name: 'M',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
    });
    const one = await api.make('/v1/customers', { external_id: 'one', timezone: 'Europe/Paris' });
    const two = await api.make('/v1/customers', { external_id: 'two' });
    const dependencies = { database, clock: systemClock, dataUntil };
    const named = { meterIds: [meter.id, 'no'], externalIds: ['one', 'no'], customerId: two.id };
    const own = await readDefinitions(dependencies, api, named);
    expect(own.customers).toEqual([
      { id: one.id, external_id: 'one', timezone: 'Europe/Paris' },
      { id: two.id, external_id: 'two', timezone: null },
    ]);
    expect([...own.meters.keys()]).toEqual([meter.id]);
    expect(own.dataUntil).toBeNull();
    const foreign = await readDefinitions(dependencies, OTHER, named);
    expect([foreign.customers, foreign.meters.size]).toEqual([[], 0]);
  });

  test('tells the instant of the question: of the test clock, of the machine, or the one handed in', async ({
    api,
    clock,
    database: { database },
  }) => {
    clock.set('2026-03-01T00:00:00Z');
    const at = Date.parse('2031-01-01T00:00:00.000Z');
    const shown = async (reading: Reading) =>
      (await readDefinitions({ database, clock, dataUntil }, reading, NOBODY)).now;
    expect(await shown(api)).toBe(clock.now());
    await setTestClock(database, api.environment, at);
    expect(await shown(api)).toBe(at);
    expect(await shown({ environment: api.environment, at: at + 1 })).toBe(at + 1);
  });

  test('is bound by row-level security: where no policy shows a row there is none', async ({
    api,
    database: { database },
  }) => {
    const customer = await api.make('/v1/customers', { external_id: 'one' });
    const owner = ownerOf(database);
    const named = { ...NOBODY, customerId: customer.id };
    const read = () => readDefinitions({ database, clock: systemClock, dataUntil }, api, named);
    expect((await read()).customers).toHaveLength(1);
    const none = z.unknown();
    await owner.query(sql.type(none)`DROP POLICY environment_isolation ON customers`);
    expect((await read()).customers).toEqual([]);
  });

  test('leaves its connection outside of the environment', async ({
    api,
    database: { database },
  }) => {
    const single = await createDatabase(database.url, { poolSize: 1 });
    try {
      const where = () =>
        single.slonik.one(sql.type(roleRow)`SELECT current_user AS role,
          nullif(current_setting('minutebook.tenant_id', true), '') AS tenant`);
      const before = await where();
      await readDefinitions({ database: single, clock: systemClock, dataUntil }, api, NOBODY);
      expect([before, await where()]).toEqual([before, before]);
      expect(before).toEqual({ role: 'minutebook_programs', tenant: null });
    } finally {
      await single.close();
    }
  });
});

test('a usage query asks PostgreSQL one thing, besides the caller and everybody’s names', async ({
  api,
  database: { database },
}) => {
  const meter = await api.make('/v1/meters', {
    name: 'M',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
  });
  await api.make('/v1/customers', { external_id: 'one' });
  const asked: string[] = [];
  const transactions = { read: database.readSnapshot, one: database.slonik.one };
  database.readSnapshot = () => Promise.reject(new Error('a transaction of its own'));
  Object.assign(database.slonik, {
    one: (query: Parameters<typeof database.slonik.one>[0]) => {
      asked.push(query.sql);
      return transactions.one(query);
    },
  });
  try {
    const range = { start_time: '2026-09-01T00:00:00Z', end_time: '2026-10-01T00:00:00Z' };
    const body = { meter_id: meter.id, external_customer_id: 'one', ...range };
    const usage = await api.call('POST', '/v1/events/usage/meter', { body });
    expect([usage.status, usage.body.value]).toEqual([200, '0']);
  } finally {
    database.readSnapshot = transactions.read;
    Object.assign(database.slonik, { one: transactions.one });
  }
  expect(asked.filter((text) => !text.includes('find_key_caller'))).toHaveLength(1);
});
