import { expect } from 'vitest';
import { makeSubscription, test } from '../../testing/billing-test.js';

test('what clients of other systems send is taken as they mean it', async ({ api }) => {
  const addon = { name: 'Extra', lookup_key: 'extra', type: 'onetime' };
  expect((await api.make('/v1/addons', addon)).lookup_key).toBe('extra');
  await api.make('/v1/coupons', {
    name: 'C',
    coupon_code: 'C',
    type: 'percentage',
    percentage_off: '5',
    cadence: 'once',
  });
  const plan = await api.make('/v1/plans', { name: 'Pro', lookup_key: 'pro' });
  const price = await api.make('/v1/prices', {
    entity_id: 'pro',
    currency: 'usd',
    amount: '5',
    trial_period: 3,
    lookup_key: 'seat',
  });
  expect([price.entity_id, price.trial_period_days]).toEqual([plan.id, 3]);
  await api.make('/v1/customers', { external_id: 'acme', skip_onboarding_workflow: true });
  const names = async (body: object): Promise<string[]> => {
    const { items } = await api.make('/v1/plans/search', body);
    return items.map(({ name }: { name: string }) => name);
  };
  await api.make('/v1/plans', { name: 'Basic' });
  expect(await names({ sort: 'name', order: 'asc' })).toEqual(['Basic', 'Pro']);
  expect(await names({ order: 'asc' })).toEqual(['Pro', 'Basic']);
});

test('a lookup key is taken wherever an id is, in paths and in bodies', async ({ api }) => {
  const { customerId, meterId } = await makeSubscription(api);
  const plan = await api.make('/v1/plans', { name: 'Team', lookup_key: 'team 1' });
  const feature = await api.make('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meterId,
    lookup_key: 'calls',
  });
  const price = await api.make('/v1/prices', {
    entity_id: 'team 1',
    entity_type: 'PLAN',
    meter_id: meterId,
    currency: 'usd',
    amount: '2',
    lookup_key: 'call',
  });
  expect(price.entity_id).toBe(plan.id);
  const own = await api.make('/v1/entitlements', { feature_id: 'calls', plan_id: 'team 1' });
  expect([own.feature_id, own.plan_id]).toEqual([feature.id, plan.id]);
  const subscription = await api.make('/v1/subscriptions', {
    customer_id: customerId,
    plan_id: 'team 1',
    currency: 'usd',
    billing_period: 'MONTHLY',
    lookup_key: 'acme-team',
    line_item_commitments: {
      call: { commitment_amount: 100, overage_factor: 1.5, enable_true_up: true },
    },
  });
  const [line] = subscription.line_items;
  expect(line).toMatchObject({
    price_id: price.id,
    commitment_amount: '100',
    commitment_overage_factor: '1.5',
    commitment_true_up_enabled: true,
  });
  const preview = await api.make('/v1/invoices/preview', { subscription_id: 'acme-team' });
  expect(preview.subscription_id).toBe(subscription.id);
  const read = await api.call('GET', '/v1/plans/team%201/entitlements?limit=1');
  expect(read.body.items[0].id).toBe(own.id);
  const found = await api.make('/v1/subscriptions/search', { subscription_ids: ['acme-team'] });
  expect(found.pagination.total).toBe(1);
  const unknown = await api.call('GET', '/v1/plans/team%202');
  expect([unknown.status, unknown.body.message]).toEqual([404, 'plan team 2 does not exist']);
});
