import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { noRows } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import type { Answer } from '../testing/money-test.js';

const TEN = Array.from({ length: 10 }, (_, n) => n);

/** How many of ten who come at once were let in; why the others were not. */
async function admitted(ask: (n: number) => Promise<Answer>) {
  const answers: readonly Answer[] = await Promise.all(TEN.map(ask));
  const refused = answers.filter(({ status }) => status === 400);
  expect(answers.filter(({ status }) => status >= 300)).toHaveLength(refused.length);
  return { count: answers.length - refused.length, refused: refused.map(({ body }) => body) };
}

/** Stores a row as many times more as given, each with an id of its own. */
async function copy(
  database: Database,
  { table, id, times }: { readonly table: string; readonly id: string; readonly times: number },
): Promise<void> {
  const name = sql.identifier([table]);
  await ownerOf(database).query(sql.type(noRows)`
    INSERT INTO ${name}
    SELECT (jsonb_populate_record(one, jsonb_build_object('id', one.id || 'x' || n))).*
    FROM ${name} AS one, generate_series(1, ${times}) AS n WHERE one.id = ${id}`);
}

const count = async (api: BillingUnderTest, path: string, query: object): Promise<number> =>
  (await api.make(`/v1/${path}/search`, query)).pagination.total;

const FULL = /at most|no redemptions left/;

describe('the last places under a limit, which ten want at once', () => {
  test('redemptions of a coupon: four of ten have them, with new and with running subscriptions', async ({
    api,
  }) => {
    const { id: couponId } = await api.make('/v1/coupons', {
      name: 'Half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
      coupon_code: 'HALF',
      max_redemptions: 4,
    });
    const { id, customerId, planId } = await makeSubscription(api);
    const terms = { customer_id: customerId, plan_id: planId, currency: 'usd' };
    const create = { ...terms, billing_period: 'MONTHLY', coupons: ['HALF'] };
    const add = { type: 'coupon', coupon_params: { add: [{ coupon_code: 'HALF' }] } };
    const { count: redeemed, refused } = await admitted((n) =>
      n % 2 === 0
        ? api.call('POST', '/v1/subscriptions', { body: create })
        : api.call('POST', `/v1/subscriptions/${id}/modify/execute`, { body: add }),
    );
    expect(redeemed).toBe(4);
    for (const { details } of refused)
      expect(Object.values(details)).toEqual([expect.stringMatching(FULL)]);
    const { body: coupon } = await api.call('GET', `/v1/coupons/${couponId}`);
    const { body: held } = await api.call('GET', `/v1/coupons/associations?coupon_id=${couponId}`);
    expect([coupon.total_redemptions, held.pagination.total]).toEqual([4, 4]);
  });

  test('children who inherit a subscription: four of ten join it', async ({ api, database }) => {
    const { id } = await makeSubscription(api);
    for (const n of ['first', ...TEN])
      await api.make('/v1/customers', { external_id: `heir-${n}` });
    const join = (heir: string | number) =>
      api.call('POST', `/v1/subscriptions/${id}/modify/execute`, {
        body: { type: 'inheritance', inheritance_params: { add: [`heir-${heir}`] } },
      });
    expect((await join('first')).status).toBe(200);
    const children = { parent_subscription_ids: [id] };
    const { items } = await api.make('/v1/subscriptions/search', children);
    await copy(database.database, { table: 'subscriptions', id: items[0].id, times: 995 });
    const { count: joined, refused } = await admitted(join);
    expect(joined).toBe(4);
    for (const { message } of refused) expect(message).toMatch(FULL);
    expect(await count(api, 'subscriptions', children)).toBe(1000);
  });

  test('live prices of a plan: four of ten are stored', async ({ api, database }) => {
    const { planId, priceId } = await makeSubscription(api);
    await copy(database.database, { table: 'prices', id: priceId, times: 4995 });
    const { count: stored, refused } = await admitted(() =>
      api.call('POST', '/v1/prices', { body: { entity_id: planId, currency: 'usd', amount: '1' } }),
    );
    expect(stored).toBe(4);
    for (const { details } of refused) expect(details.entity_id).toMatch(FULL);
    expect(await count(api, 'prices', { entity_ids: [planId] })).toBe(5000);
  });

  test('the one pause and the one change to come of a subscription', async ({ api }) => {
    const paused = await makeSubscription(api);
    const pause = { pause_mode: 'period_end' };
    const pauses = await admitted(() =>
      api.call('POST', `/v1/subscriptions/${paused.id}/pause`, { body: pause }),
    );
    const end = { cancellation_type: 'end_of_period' };
    const ends = await admitted(() =>
      api.call('POST', `/v1/subscriptions/${paused.id}/cancel`, { body: end }),
    );
    expect([pauses.count, ends.count]).toEqual([1, 1]);
    const { body: subscription } = await api.call('GET', `/v1/subscriptions/${paused.id}`);
    const { body: schedules } = await api.call('GET', `/v1/subscriptions/${paused.id}/schedules`);
    expect([subscription.pauses.length, schedules.items.length]).toEqual([1, 1]);
  });

  test('the one entitlement of a plan to a feature', async ({ api }) => {
    const { planId } = await makeSubscription(api);
    const feature = await api.make('/v1/features', { name: 'SSO', type: 'boolean' });
    const body = {
      entity_type: 'PLAN',
      entity_id: planId,
      feature_id: feature.id,
      feature_type: 'boolean',
      is_enabled: true,
    };
    const answers = await Promise.all(
      TEN.map(() => api.call('POST', '/v1/entitlements', { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    expect(await count(api, 'entitlements', { feature_ids: [feature.id] })).toBe(1);
  });
});
