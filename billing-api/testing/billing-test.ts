import { expect } from 'vitest';
import { test as base } from '../../load-tests/harness/fixtures.js';
import type { Clock } from '../../runtime/clock.js';
import { systemClock } from '../../runtime/clock.js';
import { withBillingApi, type BillingUnderTest } from './billing-harness.js';

export { makeKey } from '../../load-tests/harness/make-key.js';

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
