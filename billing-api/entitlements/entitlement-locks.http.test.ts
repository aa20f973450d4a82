import { sql } from 'slonik';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { integerColumn } from '../../sql/columns.js';
import { makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { statementsOf } from '../testing/counted-stores.js';

/** A subscription and a feature of its meter. */
async function makeFeature(api: BillingUnderTest) {
  const made = await makeSubscription(api);
  const feature = { name: 'Calls', type: 'metered', meter_id: made.meterId };
  return { ...made, callsId: (await api.make('/v1/features', feature)).id };
}

describe('entitlements of one owner that are made at the same time', () => {
  test('wait for each other and never deadlock', async ({ api, database }) => {
    const { customerId, callsId } = await makeFeature(api);
    const { database: pool } = database;
    const pairs = await Promise.all(
      Array.from({ length: 2 }, async (_, index) => {
        const plan = await api.make('/v1/plans', { name: `Plan ${index}` });
        const price = { entity_id: plan.id, currency: 'usd', amount: '1' };
        await api.make('/v1/prices', price);
        const subscription = await api.make('/v1/subscriptions', {
          customer_id: customerId,
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
        });
        return { planId: plan.id, subscriptionId: subscription.id };
      }),
    );
    const calls = { feature_id: callsId, is_additional: true };
    const bodies = pairs.map(({ planId }, index) => {
      const other = pairs[1 - index]?.subscriptionId;
      const ofPlan = { ...calls, plan_id: planId };
      const ofOther = { ...calls, entity_id: other };
      return { items: index === 0 ? [ofPlan, ofOther] : [ofOther, ofPlan] };
    });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        api.call('POST', '/v1/entitlements/bulk', { body: bodies[index % 2] }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    await ownerOf(pool).query(sql.type(z.unknown())`SELECT pg_stat_force_next_flush()`);
    // A connection reports what it counted when it has been idle for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const counted = sql.type(z.object({ deadlocks: integerColumn }))`
      SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`;
    expect(await pool.slonik.one(counted)).toEqual({ deadlocks: 0 });
  });

  test('take as many statements whether they are one or a hundred', async ({ api, database }) => {
    const { planId, callsId, id } = await makeFeature(api);
    const owners = [{ plan_id: planId }, { entity_id: id }];
    const items = Array.from({ length: 100 }, (_, index) => ({
      feature_id: callsId,
      is_additional: true,
      ...owners[index % 2],
    }));
    const count = async (body: object): Promise<number> => {
      const send = () => api.make('/v1/entitlements/bulk', body);
      return (await statementsOf(database.database, send)).length;
    };
    const two = await count({ items: items.slice(0, 2) });
    expect(two).toBeGreaterThan(3);
    expect(await count({ items })).toBe(two);
  });
});
