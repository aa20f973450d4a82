import { describe, expect } from 'vitest';
import { expectRefusals, makeKey } from '../../testing/billing-test.js';
import type { Answer, BillingUnderTest } from '../../testing/billing-harness.js';
import { test, type MakeFeaturedPlan } from '../../testing/featured-plan.js';
import type { PricedPlan } from '../../testing/priced-plan.js';

const START = '2026-10-01T00:00:00.000Z';
const MIDDLE = '2026-10-16T00:00:00.000Z';

/** A plan with 10 of a feature free and 1.00 for each more, and an addon with 5 of it and a fee. */
async function makeWorld(api: BillingUnderTest, featuredPlan: MakeFeaturedPlan, now: string) {
  const plan = await featuredPlan(now, { meter: { type: 'COUNT' }, price: { amount: '1' } });
  const free = { feature_id: plan.featureId };
  await api.make('/v1/entitlements', { ...free, plan_id: plan.planId, usage_limit: 10 });
  const addon = await api.make('/v1/addons', { name: 'More calls', lookup_key: 'more' });
  const fee = { addon_id: addon.id, currency: 'usd', amount: '31', invoice_cadence: 'ARREAR' };
  const price = await api.make('/v1/prices', fee);
  const allowance = await api.make('/v1/entitlements', {
    ...free,
    entity_id: addon.id,
    usage_limit: 5,
  });
  return { ...plan, addonId: addon.id, feeId: price.id, allowance };
}

/** As many events, one a minute, from the second of October on. */
function eventsOf(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    at: new Date(Date.parse('2026-10-02T00:00:00Z') + index * 60_000).toISOString(),
  }));
}

const amountsOf = ({ line_items: lines }: Answer['body']): readonly string[] =>
  lines.map((line: { amount: string }) => line.amount);

const preview = (api: BillingUnderTest, id: string) =>
  api.make('/v1/invoices/preview', { subscription_id: id });

const calendar = { billing_cycle: 'calendar', start_date: START };
const addonsOf = (...addons: readonly object[]) => ({ ...calendar, addons });

async function subscribed(api: BillingUnderTest, { subscribe }: PricedPlan, members: object) {
  const id = await subscribe(members);
  return (await api.call('GET', `/v1/subscriptions/${id}`)).body;
}

describe('a subscription with addons', () => {
  test('has their prices as lines and their entitlements beside those of its plan', async ({
    api,
    featuredPlan,
  }) => {
    const world = await makeWorld(api, featuredPlan, '2026-10-20T00:00:00Z');
    await world.count(eventsOf(18));
    const { addonId } = world;
    const plain = await subscribed(api, world, calendar);
    expect(amountsOf(await preview(api, plain.id))).toEqual(['8.00']);
    const once = await subscribed(api, world, addonsOf({ addon_id: addonId }));
    expect(once.line_items).toMatchObject([
      { entity_type: 'plan', entity_id: world.planId, addon_association_id: null },
      {
        entity_type: 'addon',
        entity_id: addonId,
        price_id: world.feeId,
        start_date: START,
        addon_association_id: expect.stringMatching(/^addon_assoc_/),
        end_date: null,
        plan_display_name: null,
        display_name: 'More calls',
        quantity: '1',
      },
    ]);
    // 18 − 10 − 5, and the fee.
    expect(amountsOf(await preview(api, once.id))).toEqual(['3.00', '31.00']);
    const usage = await api.make('/v1/subscriptions/usage', { subscription_id: once.id });
    expect(usage.amount).toBe('3.00');
    const twice = await subscribed(
      api,
      world,
      addonsOf({ addon_id: addonId }, { addon_id: addonId, cadence: 'recurring' }),
    );
    expect(amountsOf(await preview(api, twice.id))).toEqual(['0.00', '31.00', '31.00']);
    const lines = twice.line_items.map((line: { addon_association_id: string }) => line);
    expect(new Set(lines.map((line: Answer['body']) => line.addon_association_id)).size).toBe(3);
  });

  test('has one from a later start on, its fee for that part of the period', async ({
    api,
    featuredPlan,
  }) => {
    const world = await makeWorld(api, featuredPlan, '2026-10-10T00:00:00Z');
    await world.count(eventsOf(18));
    const { id, line_items: lines } = await subscribed(
      api,
      world,
      addonsOf({ addon_id: world.addonId, start_date: MIDDLE }),
    );
    expect(lines[1]).toMatchObject({ entity_type: 'addon', start_date: MIDDLE });
    // 31.00 × 16 ÷ 31 days; the allowance counts, as it does at the end of the period.
    expect(amountsOf(await preview(api, id))).toEqual(['3.00', '16.00']);
    const range = { period_start: START, period_end: '2026-10-10T00:00:00Z' };
    const before = await api.make('/v1/invoices/preview', { subscription_id: id, ...range });
    expect(amountsOf(before)[0]).toBe('8.00');
  });

  test('meters usage of the addon itself, in previews and analytics', async ({
    api,
    featuredPlan,
  }) => {
    const world = await makeWorld(api, featuredPlan, '2026-10-20T00:00:00Z');
    await world.count(eventsOf(18));
    const { addonId, meterId } = world;
    const usage = { addon_id: addonId, currency: 'usd', meter_id: meterId, amount: '0.5' };
    const priced = await api.make('/v1/prices', usage);
    const commitment = { commitment_amount: '9', commitment_overage_factor: '2' };
    const { id } = await subscribed(api, world, {
      ...addonsOf({ addon_id: addonId }),
      line_item_commitments: { [priced.id]: { ...commitment, commitment_true_up_enabled: true } },
    });
    // The allowance of 15 is shared in line order: the first line uses it up, and the last pays 18.
    const { line_items: lines } = await preview(api, id);
    expect(lines.map((line: Answer['body']) => [line.entity_type, line.amount])).toEqual([
      ['plan', '3.00'],
      ['addon', '31.00'],
      ['addon', '9.00'],
    ]);
    expect(lines[2].commitment_info).toMatchObject({ amount: '9' });
    const analytics = await api.make('/v1/events/analytics', {
      external_customer_id: 'acme',
      start_time: START,
      end_time: '2026-11-01T00:00:00Z',
      expand: ['addon'],
    });
    const addon = { id: addonId, lookup_key: 'more' };
    expect(analytics.items).toMatchObject([
      { plan_id: world.planId, addon_id: null, addon: null, total_cost: '3.00' },
      { plan_id: null, addon_id: addonId, addon, total_cost: '9.00' },
    ]);
  });

  test('is refused what breaks a rule, naming the member, and keeps nothing', async ({
    api,
    database,
    featuredPlan,
  }) => {
    const world = await makeWorld(api, featuredPlan, '2026-10-10T00:00:00Z');
    const { addonId, planId } = world;
    const empty = await api.make('/v1/addons', { name: 'Empty', lookup_key: 'empty' });
    const terms = {
      external_customer_id: 'acme',
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...calendar,
      end_date: '2026-12-01T00:00:00Z',
    };
    const having = (addon: object) => ({ ...terms, addons: [{ addon_id: addonId, ...addon }] });
    await expectRefusals(api, '/v1/subscriptions', [
      ['no addon', { ...terms, addons: [{}] }, 'addons.0.addon_id'],
      ['no matching price', having({ addon_id: empty.id }), 'addons.0.addon_id'],
      ['a cadence', having({ cadence: 'daily' }), 'addons.0.cadence'],
      [
        'a onetime one of a draft',
        { ...having({ cadence: 'onetime' }), subscription_status: 'draft' },
        'addons.0.cadence',
      ],
      ['a start before', having({ start_date: '2026-09-30T23:59:59Z' }), 'addons.0.start_date'],
      ['a start at the end', having({ start_date: terms.end_date }), 'addons.0.start_date'],
      ['a start that is none', having({ start_date: 'x' }), 'addons.0.start_date'],
      ['an unknown member', having({ quantity: '2' }), 'addons.0.quantity'],
      ['101 of them', { ...terms, addons: Array(101).fill({ addon_id: addonId }) }, 'addons'],
    ]);
    const unknown = await api.call('POST', '/v1/subscriptions', {
      body: having({ addon_id: 'addon_x' }),
    });
    expect(unknown.status).toBe(404);
    const { apiKey, environment } = await makeKey(database.database, {});
    expect(environment.tenantId).not.toBe(api.environment.tenantId);
    const headers = { 'x-api-key': apiKey };
    const own = { name: 'Theirs', lookup_key: 'theirs' };
    const theirs = await api.call('POST', '/v1/addons', { body: own, headers });
    const foreign = having({ addon_id: theirs.body.id });
    expect((await api.call('POST', '/v1/subscriptions', { body: foreign })).status).toBe(404);
    expect((await api.make('/v1/subscriptions/search', {})).pagination.total).toBe(0);
    const first = having({ start_date: START });
    expect((await api.call('POST', '/v1/subscriptions', { body: first })).status).toBe(201);
  });

  test('has one reset period for each meter, wherever its entitlements come from', async ({
    api,
    featuredPlan,
  }) => {
    const world = await makeWorld(api, featuredPlan, '2026-10-10T00:00:00Z');
    const { addonId, planId, metered } = world;
    const other = await api.make('/v1/features', { ...metered, name: 'All', lookup_key: 'all' });
    const daily = { feature_id: other.id, usage_reset_period: 'DAILY' };
    const entitle = (owner: string) =>
      api.call('POST', '/v1/entitlements', { body: { ...daily, entity_id: owner } });
    // Nobody has both, so they do not meet.
    const second = await api.make('/v1/addons', { name: 'Daily', lookup_key: 'daily' });
    await api.make('/v1/prices', { addon_id: second.id, currency: 'usd', amount: '1' });
    expect((await entitle(second.id)).status).toBe(201);
    const terms = {
      external_customer_id: 'acme',
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...calendar,
    };
    const both = [{ addon_id: addonId }, { addon_id: second.id }];
    await expectRefusals(api, '/v1/subscriptions', [
      ['that of the plan', { ...terms, addons: [both[1]] }, 'addons.0.addon_id'],
      ['that of another addon', { ...terms, addons: both }, 'addons.1.addon_id'],
    ]);
    const { id } = await subscribed(api, world, addonsOf({ addon_id: addonId }));
    for (const owner of [addonId, planId, id]) {
      const refused = await entitle(owner);
      expect([owner, refused.status]).toEqual([owner, 400]);
      expect(refused.body.details.usage_reset_period).toContain('must be left out');
    }
    const change = { body: { usage_reset_period: 'DAILY' } };
    const path = `/v1/entitlements/${world.allowance.id}`;
    expect((await api.call('PUT', path, { body: { usage_limit: 6 } })).status).toBe(200);
    // The plan has the same feature, whose most frequent reset period counts.
    expect((await api.call('PUT', path, change)).status).toBe(200);
  });
});

describe('entitlements of a plan and an addon that one subscription has', () => {
  test('get one reset period for a meter, also when both are made at once', async ({
    api,
    featuredPlan,
  }) => {
    const world = await makeWorld(api, featuredPlan, '2026-10-10T00:00:00Z');
    await world.subscribe(addonsOf({ addon_id: world.addonId }));
    for (let round = 0; round < 6; round += 1) {
      const meter = await api.make('/v1/meters', {
        name: `Meter ${round}`,
        event_name: 'x',
        aggregation: { type: 'COUNT' },
      });
      const [first, second] = await Promise.all(
        ['a', 'b'].map((name) =>
          api.make('/v1/features', {
            name,
            lookup_key: `${name}${round}`,
            type: 'metered',
            meter_id: meter.id,
          }),
        ),
      );
      const bodies = [
        { entity_id: world.planId, feature_id: first.id, usage_reset_period: 'DAILY' },
        { entity_id: world.addonId, feature_id: second.id, usage_reset_period: 'WEEKLY' },
      ];
      const answers = await Promise.all(
        bodies.map((body) => api.call('POST', '/v1/entitlements', { body })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
    }
  });
});

describe('DELETE /addons/{id}', () => {
  test('is refused while a subscription has the addon', async ({ api, featuredPlan }) => {
    const world = await makeWorld(api, featuredPlan, '2026-10-10T00:00:00Z');
    await world.subscribe(addonsOf({ addon_id: world.addonId }));
    const refused = await api.call('DELETE', `/v1/addons/${world.addonId}`);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toContain('association');
  });

  test('or a subscription with the addon wins, when both come at once', async ({
    api,
    featuredPlan,
  }) => {
    const { planId } = await makeWorld(api, featuredPlan, '2026-10-10T00:00:00Z');
    for (let round = 0; round < 6; round += 1) {
      const { id } = await api.make('/v1/addons', { name: 'Raced', lookup_key: `k${round}` });
      await api.make('/v1/prices', { addon_id: id, currency: 'usd', amount: '1' });
      const body = {
        external_customer_id: 'acme',
        plan_id: planId,
        currency: 'usd',
        billing_period: 'MONTHLY',
        ...addonsOf({ addon_id: id }),
      };
      const [removed, made] = await Promise.all([
        api.call('DELETE', `/v1/addons/${id}`),
        api.call('POST', '/v1/subscriptions', { body }),
      ]);
      expect([
        [200, 404],
        [400, 201],
      ]).toContainEqual([removed.status, made.status]);
    }
  });
});
