import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import { makeKey } from '../../testing/billing-test.js';
import { test } from '../../testing/featured-plan.js';
import { numbersAt } from '../../testing/priced-plan.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';

const PRICING = { meter: { type: 'SUM', field: 'n' } as const, price: { amount: '0.30' } };
const ENTITLED = '/v1/customers/external/acme/entitlements';
const USAGE = '/v1/customers/usage?external_customer_id=acme';

const get = async (api: BillingUnderTest, path: string) => (await api.call('GET', path)).body;

async function makeFeature(api: BillingUnderTest, name: string, members: object) {
  return (await api.make('/v1/features', { name, ...members })).id as string;
}

const entitle = (api: BillingUnderTest, members: object) => api.make('/v1/entitlements', members);

type Entitled = { feature: { id: string }; entitlement: object; sources: object[] };

/** What a customer may use of a feature, as it is answered; undefined without the feature. */
async function entitledTo(api: BillingUnderTest, featureId: string, path = ENTITLED) {
  const { features } = (await get(api, path)) as { features: Entitled[] };
  return features.find(({ feature }) => feature.id === featureId);
}

describe('GET /customers/{id}/entitlements', () => {
  test('combines the limits of all subscriptions in force, and names their sources', async ({
    api,
    featuredPlan,
  }) => {
    const plan = await featuredPlan('2026-10-20T00:00:00Z', PRICING);
    const { featureId } = plan;
    const owned = { plan_id: plan.planId, feature_id: featureId };
    const terms = { usage_limit: 100, usage_reset_period: 'DAILY', is_soft_limit: true };
    const ent = await entitle(api, { ...owned, ...terms });
    const [first, second] = [await plan.subscribe(), await plan.subscribe()];
    const own = { entity_id: second, feature_id: featureId, usage_limit: 7 };
    const replacing = { ...own, parent_entitlement_id: ent.id, usage_reset_period: 'DAILY' };
    const replaced = await entitle(api, replacing);
    const customer = await get(api, '/v1/customers/external/acme');
    const answer = await get(api, ENTITLED);
    expect(answer.customer_id).toBe(customer.id);
    expect(answer.subscriptions.map(({ id }: { id: string }) => id)).toEqual([first, second]);
    expect(answer.subscriptions[0]).toMatchObject({ subscription_status: 'active' });
    expect(answer.features).toHaveLength(1);
    expect(answer.features[0].feature).toMatchObject({ id: featureId, name: 'Calls' });
    expect(answer.features[0].entitlement).toEqual({
      is_enabled: true,
      usage_limit: 107,
      is_soft_limit: true,
      usage_reset_period: 'DAILY',
      static_values: [],
    });
    const source = { quantity: 1, is_enabled: true, entity_name: 'Pro', static_value: null };
    const limited = { ...source, usage_reset_period: 'DAILY' };
    expect(answer.features[0].sources).toEqual([
      {
        ...limited,
        subscription_id: first,
        entity_type: 'PLAN',
        entity_id: plan.planId,
        entitlement_id: ent.id,
        usage_limit: 100,
      },
      {
        ...limited,
        subscription_id: second,
        entity_type: 'SUBSCRIPTION',
        entity_id: second,
        entitlement_id: replaced.id,
        usage_limit: 7,
      },
    ]);
    expect(await get(api, `/v1/customers/${customer.id}/entitlements`)).toEqual(answer);
  });

  test('answers static and boolean features, unlimited ones and those that were given up', async ({
    api,
    clock,
    featuredPlan,
  }) => {
    const plan = await featuredPlan('2026-10-20T00:00:00Z', PRICING);
    const { featureId: calls } = plan;
    const tier = await makeFeature(api, 'Tier', { type: 'static' });
    const sso = await makeFeature(api, 'Sign-on', { type: 'boolean' });
    const off = await makeFeature(api, 'Beta', { type: 'boolean' });
    const { planId: plan_id } = plan;
    await entitle(api, { plan_id, feature_id: calls });
    await entitle(api, { plan_id, feature_id: sso });
    const beta = await entitle(api, { plan_id, feature_id: off });
    await entitle(api, { plan_id, feature_id: tier, static_value: 'gold' });
    const id = await plan.subscribe();
    const own = { entity_id: id, feature_id: tier, static_value: 'silver' };
    clock.set('2026-10-20T00:00:01Z');
    await entitle(api, own);
    const givenUp = { entity_id: id, feature_id: off, parent_entitlement_id: beta.id };
    await entitle(api, { ...givenUp, is_enabled: false });
    const none = { usage_limit: null, is_soft_limit: false, usage_reset_period: null };
    const on = { is_enabled: true, ...none, static_values: [] };
    const combined = async (featureId: string) => (await entitledTo(api, featureId))?.entitlement;
    expect(await combined(calls)).toEqual(on);
    expect(await combined(sso)).toEqual(on);
    expect(await combined(tier)).toEqual({ ...on, static_values: ['gold', 'silver'] });
    expect(await combined(off)).toEqual({ ...on, is_enabled: false });
    const usage = await get(api, USAGE);
    expect(usage.features).toHaveLength(1);
    const unlimited = { total_limit: null, is_unlimited: true, usage_percent: null };
    expect(usage.features[0]).toMatchObject({ current_usage: '0', is_enabled: true, ...unlimited });
    const only = `${ENTITLED}?feature_ids=${tier},feat_x`;
    expect((await get(api, only)).features).toHaveLength(1);
    expect((await get(api, `${ENTITLED}?subscription_ids=subs_x`)).features).toEqual([]);
    expect((await get(api, `${ENTITLED}?subscription_ids=${id}`)).features).toHaveLength(4);
  });

  test('leaves out what has not begun, has ended, is a draft, paused or cancelled', async ({
    api,
    database,
    clock,
    featuredPlan,
  }) => {
    const plan = await featuredPlan('2026-10-20T00:00:00Z', PRICING);
    const { featureId } = plan;
    await entitle(api, { plan_id: plan.planId, feature_id: featureId, usage_limit: 5 });
    for (const status of ['draft', 'cancelled', 'paused', 'incomplete']) {
      const id = await plan.subscribe();
      await ownerOf(database.database).query(sql.type(noRows)`
        UPDATE subscriptions SET subscription_status = ${status} WHERE id = ${id}`);
    }
    const live = await plan.subscribe({ end_date: '2026-10-21T00:00:00Z' });
    const later = await plan.subscribe({ start_date: '2026-10-21T00:00:00Z' });
    const liveIds = async () =>
      (await get(api, ENTITLED)).subscriptions.map(({ id }: { id: string }) => id);
    expect(await liveIds()).toEqual([live]);
    clock.set('2026-10-21T00:00:00Z');
    expect(await liveIds()).toEqual([later]);
  });

  test('answers 404 for a customer that is unknown, of others or archived', async ({
    api,
    database,
  }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    expect(await get(api, `/v1/customers/${id}/entitlements`)).toEqual({
      customer_id: id,
      subscriptions: [],
      features: [],
      plan_id: null,
      subscription_id: null,
    });
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    const paths = [`/v1/customers/${id}/entitlements`, ENTITLED, USAGE];
    paths.push(
      '/v1/customers/external/acme/subscriptions',
      `/v1/customers/usage?customer_id=${id}`,
    );
    for (const path of paths) {
      expect([path, (await api.call('GET', path, { headers })).status]).toEqual([path, 404]);
    }
    await api.call('DELETE', `/v1/customers/${id}`);
    expect((await api.call('GET', ENTITLED)).status).toBe(404);
    expect((await api.call('GET', `/v1/customers/${id}/entitlements`)).status).toBe(200);
  });

  test('refuses lists of more than 1000 ids, naming the parameter', async ({ api }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const listOf = (count: number) => Array.from({ length: count }, (_, n) => n).join(',');
    for (const name of ['feature_ids', 'subscription_ids']) {
      const ask = (count: number) => api.call('GET', `${ENTITLED}?${name}=${listOf(count)}`);
      expect((await ask(1000)).status).toBe(200);
      const refused = await ask(1001);
      expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, [name]]);
    }
  });
});

describe('GET /customers/usage', () => {
  test('tells the number of usage answers and previews, against the sum of the limits', async ({
    api,
    featuredPlan,
  }) => {
    const plan = await featuredPlan('2026-10-20T12:00:00Z', PRICING);
    const { featureId } = plan;
    await entitle(api, { plan_id: plan.planId, feature_id: featureId, usage_limit: 150 });
    const events = numbersAt(['05T10:00:00.000', '50'], ['20T11:00:00.000', '20.5']);
    await plan.count(events);
    await plan.count([{ at: '2026-09-30T23:59:59.999Z', properties: { n: '9' } }]);
    const id = await plan.subscribe();
    const usage = await get(api, USAGE);
    expect(usage).toMatchObject({
      period_start: '2026-10-01T00:00:00.000Z',
      period_end: '2026-11-01T00:00:00.000Z',
    });
    expect(usage.features).toHaveLength(1);
    expect(usage.features[0]).toMatchObject({
      feature: { id: featureId },
      current_usage: '70.5',
      total_limit: '150',
      is_unlimited: false,
      usage_percent: '47',
      is_enabled: true,
      is_soft_limit: false,
      next_usage_reset_at: '2026-11-01T00:00:00.000Z',
      sources: [{ subscription_id: id, usage_limit: 150 }],
    });
    const range = { start_time: usage.period_start, end_time: usage.period_end };
    const body = { meter_id: plan.meterId, external_customer_id: 'acme', ...range };
    const answered = await api.call('POST', '/v1/events/usage/meter', { body });
    expect(answered.body.value).toBe(usage.features[0].current_usage);
    const preview = await api.call('POST', '/v1/invoices/preview', {
      body: { subscription_id: id },
    });
    const [line] = preview.body.line_items;
    expect(line.quantity).toBe(usage.features[0].current_usage);
    const { customer_id: customerId } = usage;
    expect(await get(api, `/v1/customers/usage?customer_id=${customerId}`)).toEqual(usage);
  });

  test('counts since the last reset, and goes beyond 100 percent', async ({
    api,
    clock,
    featuredPlan,
  }) => {
    const plan = await featuredPlan('2026-10-20T12:00:00Z', PRICING);
    const { featureId } = plan;
    const daily = { usage_limit: 10, usage_reset_period: 'DAILY' };
    await entitle(api, { plan_id: plan.planId, feature_id: featureId, ...daily });
    await plan.count(numbersAt(['19T23:59:59.000', '50'], ['20T11:00:00.000', '20.5']));
    await plan.subscribe();
    expect((await get(api, USAGE)).features[0]).toMatchObject({
      current_usage: '20.5',
      total_limit: '10',
      usage_percent: '205',
      next_usage_reset_at: '2026-10-21T00:00:00.000Z',
    });
    clock.set('2026-10-21T00:00:00Z');
    expect((await get(api, USAGE)).features[0]).toMatchObject({
      current_usage: '0',
      usage_percent: '0',
      next_usage_reset_at: '2026-10-22T00:00:00.000Z',
    });
  });

  test('must name the customer, and the external id decides', async ({ api }) => {
    const unnamed = await api.call('GET', '/v1/customers/usage');
    expect([unnamed.status, unnamed.body.code]).toEqual([400, 'validation_error']);
    expect(Object.keys(unnamed.body.details)).toEqual(['customer_id']);
    const acme = await api.make('/v1/customers', { external_id: 'acme' });
    const other = await api.make('/v1/customers', { external_id: 'other' });
    const both = `/v1/customers/usage?external_customer_id=acme&customer_id=${other.id}`;
    expect(await get(api, both)).toMatchObject({
      customer_id: acme.id,
      period_start: null,
      period_end: null,
      features: [],
    });
  });
});

describe('GET /customers/external/{external_id}/subscriptions', () => {
  test('lists the subscriptions of the customer alone, page by page', async ({
    api,
    featuredPlan,
  }) => {
    const plan = await featuredPlan('2026-10-20T00:00:00Z', PRICING);
    const ids = [
      await plan.subscribe(),
      await plan.subscribe({ start_date: '2026-12-01T00:00:00Z' }),
    ];
    const path = '/v1/customers/external/acme/subscriptions';
    await api.make('/v1/customers', { external_id: 'other' });
    await plan.subscribe({ external_customer_id: 'other' });
    const list = async (query: string) => {
      const { items, pagination } = await get(api, `${path}?${query}`);
      return [items.map(({ id }: { id: string }) => id), pagination.total];
    };
    expect(await list('order=asc')).toEqual([ids, 2]);
    expect(await list('limit=1&offset=1&order=asc')).toEqual([[ids[1]], 2]);
    const { items } = await get(api, `${path}?expand=plan,customer&limit=1`);
    expect(items[0]).toMatchObject({
      plan: { id: plan.planId },
      customer: { external_id: 'acme' },
    });
    expect(items[0].line_items).toBeNull();
    expect((await api.call('GET', `${path}?sort=colour`)).status).toBe(400);
  });
});
