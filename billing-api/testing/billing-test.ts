import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { test as base } from '../../load-tests/harness/fixtures.js';
import type { Clock } from '../../runtime/clock.js';
import type { Environment } from '../../contract/environment.js';
import { systemClock } from '../../runtime/clock.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';
import { withBillingApi, type BillingUnderTest } from './billing-harness.js';

/** A clock that tests set; it stands at the time of the machine until then. */
export type TestClock = Clock & { set: (text: string) => void };

function createTestClock(): TestClock {
  let now: number | null = null;
  return {
    now: () => now ?? systemClock.now(),
    set: (text) => {
      now = Date.parse(text);
    },
  };
}

/** `test` with the API on fresh engines. */
export const test = base.extend<{ clock: TestClock; api: BillingUnderTest }>({
  clock: async ({}, use) => use(createTestClock()),
  api: async ({ database, clickhouse, clock }, use) => {
    const engines = { database: database.database, clickhouse: clickhouse.client, clock };
    await withBillingApi(engines, use);
  },
});

type KeyOptions = {
  readonly type?: 'private_key' | 'publishable_key';
  readonly roles?: readonly string[];
  readonly environment?: Environment;
};

/** Another key, of a new user; without an environment also of a new tenant. */
export async function makeKey(
  database: Database,
  options: KeyOptions,
): Promise<{ readonly apiKey: string; readonly environment: Environment }> {
  const environment = options.environment ?? {
    tenantId: createId('tenant'),
    environmentId: createId('env'),
  };
  const { tenantId, environmentId } = environment;
  const userId = createId('user');
  const type = options.type ?? 'private_key';
  const prefix = type === 'private_key' ? 'sk' : 'pk';
  const apiKey = `${prefix}_${userId.slice(5)}${'b'.repeat(40)}`.slice(0, 43);
  const hash = createHash('sha256').update(apiKey).digest();
  const run = sql.type(z.unknown());
  await ownerOf(database).query(run`
    INSERT INTO tenants (id, name) VALUES (${tenantId}, 'Other') ON CONFLICT DO NOTHING`);
  await ownerOf(database).query(run`
    INSERT INTO environments (id, tenant_id, name, type)
    VALUES (${environmentId}, ${tenantId}, 'Other', 'production') ON CONFLICT DO NOTHING`);
  await ownerOf(database).query(run`
    INSERT INTO users (id, tenant_id, roles)
    VALUES (${userId}, ${tenantId}, ${sql.array([...(options.roles ?? ['super_admin'])], 'text')})`);
  await ownerOf(database).query(run`
    INSERT INTO secrets (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id)
    VALUES (${createId('secret')}, ${tenantId}, ${environmentId}, ${userId}, 'key', ${type},
      ${sql.binary(hash)}, 'x')`);
  return { apiKey, environment };
}

/** A counting meter, a plan with one usage price, a customer and a subscription to it. */
export async function makeSubscription(
  api: BillingUnderTest,
  members: Readonly<Record<string, unknown>> = {},
): Promise<{ meterId: string; planId: string; priceId: string; customerId: string; id: string }> {
  const meter = await api.make('/v1/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
  });
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const price = await api.make('/v1/prices', {
    entity_id: plan.id,
    currency: 'usd',
    meter_id: meter.id,
    amount: '0.25',
  });
  const customer = await api.make('/v1/customers', { external_id: 'acme' });
  const subscription = await api.make('/v1/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    ...members,
  });
  return {
    meterId: meter.id as string,
    planId: plan.id as string,
    priceId: price.id as string,
    customerId: customer.id as string,
    id: subscription.id as string,
  };
}

/** What is wrong, the body or path that is, and the member that the answer must name. */
export type RefusedCase = readonly [wrong: string, body: unknown, member: string];

/** Sends every body; each must be refused with 400, naming its member. */
export async function expectRefusals(
  api: BillingUnderTest,
  path: string,
  cases: readonly RefusedCase[],
): Promise<void> {
  for (const [wrong, body, member] of cases) {
    const { status, body: error } = await api.call('POST', path, { body });
    expect({ wrong, status, code: error.code }).toEqual({
      wrong,
      status: 400,
      code: 'validation_error',
    });
    expect(Object.keys(error.details), wrong).toContain(member);
  }
}
