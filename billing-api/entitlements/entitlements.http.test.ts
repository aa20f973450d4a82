import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';

/** A subscription, and three features: two of its meter, and one of texts. */
async function catalogOf(api: BillingUnderTest, members: object = {}) {
  const made = await makeSubscription(api, { ...members });
  const metered = { type: 'metered', meter_id: made.meterId };
  const calls = await api.make('/v1/features', { name: 'Calls', ...metered });
  const requests = await api.make('/v1/features', { name: 'Requests', ...metered });
  const tier = await api.make('/v1/features', { name: 'Support', type: 'static' });
  return { ...made, callsId: calls.id, requestsId: requests.id, supportId: tier.id };
}

const partiesOf = ({ planId, customerId }: { planId: string; customerId: string }) => ({
  customer_id: customerId,
  plan_id: planId,
  currency: 'usd',
  billing_period: 'MONTHLY',
});

describe('POST /entitlements', () => {
  test('answers 201 with every member, for a plan and for a subscription', async ({ api }) => {
    const { id, planId, callsId } = await catalogOf(api);
    const ofPlan = await api.make('/v1/entitlements', {
      feature_id: callsId,
      plan_id: planId,
      usage_limit: 1000,
    });
    expect(ofPlan).toMatchObject({
      feature_id: callsId,
      feature_type: 'metered',
      entity_type: 'PLAN',
      entity_id: planId,
      plan_id: planId,
      parent_entitlement_id: null,
      is_enabled: true,
      is_soft_limit: false,
      static_value: null,
      usage_limit: 1000,
      usage_reset_period: null,
      start_date: null,
    });
    expect([ofPlan.feature.name, ofPlan.plan.name, ofPlan.addon]).toEqual(['Calls', 'Pro', null]);
    expect((await api.call('GET', `/v1/entitlements/${ofPlan.id}`)).body).toEqual(ofPlan);
    const own = await api.make('/v1/entitlements', {
      feature_id: callsId,
      entity_id: id,
      parent_entitlement_id: ofPlan.id,
      is_soft_limit: true,
      start_date: '2026-01-01T00:00:00Z',
      end_date: '2026-01-01T00:00:00Z',
    });
    expect(own).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      entity_id: id,
      plan_id: null,
      plan: null,
      parent_entitlement_id: ofPlan.id,
      usage_limit: null,
      end_date: '2026-01-01T00:00:00.000Z',
    });
    const plan = await api.call('GET', `/v1/plans/${planId}`);
    expect(plan.body.entitlements.map((one: { id: string }) => one.id)).toEqual([ofPlan.id]);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const { id, planId, callsId, supportId } = await catalogOf(api);
    const good = { feature_id: callsId, plan_id: planId };
    const support = await api.make('/v1/entitlements', {
      feature_id: supportId,
      plan_id: planId,
      static_value: 'gold',
    });
    await expectRefusals(api, '/v1/entitlements', [
      ['no feature', { plan_id: planId }, 'feature_id'],
      ['no owner', { feature_id: callsId }, 'plan_id'],
      ['two owners', { ...good, entity_id: id }, 'entity_id'],
      ['another kind of owner', { ...good, entity_type: 'SUBSCRIPTION' }, 'entity_type'],
      ['another type', { ...good, feature_type: 'static' }, 'feature_type'],
      ['a limit below 0', { ...good, usage_limit: -1 }, 'usage_limit'],
      ['half a unit', { ...good, usage_limit: 0.5 }, 'usage_limit'],
      ['an unknown period', { ...good, usage_reset_period: 'HOURLY' }, 'usage_reset_period'],
      ['no value', { feature_id: supportId, plan_id: planId }, 'static_value'],
      [
        'an end before the start',
        { ...good, start_date: '2026-01-02T00:00:00Z', end_date: '2026-01-01T00:00:00Z' },
        'end_date',
      ],
      [
        'the parent of another feature',
        { feature_id: callsId, entity_id: id, parent_entitlement_id: support.id },
        'parent_entitlement_id',
      ],
      ['an unknown member', { ...good, colour: 1 }, 'colour'],
    ]);
    expect(await api.make('/v1/entitlements', { ...good, usage_limit: 0 })).toMatchObject({
      usage_limit: 0,
    });
  });

  test('answers 404 for records that are unknown or of others', async ({ api, database }) => {
    const { id, planId, callsId } = await catalogOf(api);
    const statusOf = async (change: object, headers = {}): Promise<number> => {
      const body = { feature_id: callsId, plan_id: planId, ...change };
      return (await api.call('POST', '/v1/entitlements', { body, headers })).status;
    };
    expect(await statusOf({ feature_id: 'feat_x' })).toBe(404);
    expect(await statusOf({ plan_id: 'plan_x' })).toBe(404);
    expect(await statusOf({ plan_id: undefined, entity_id: 'subs_x' })).toBe(404);
    const addon = { plan_id: undefined, entity_id: 'addon_x', entity_type: 'ADDON' };
    expect(await statusOf(addon)).toBe(404);
    const ofSubscription = { plan_id: undefined, entity_id: id, parent_entitlement_id: 'ent_x' };
    expect(await statusOf(ofSubscription)).toBe(404);
    const { apiKey } = await makeKey(database.database, {});
    expect(await statusOf({}, { 'x-api-key': apiKey })).toBe(404);
    expect(await statusOf({})).toBe(201);
  });

  test('replaces a parent on a subscription only; elsewhere it is kept without effect', async ({
    api,
  }) => {
    const { id, planId, callsId } = await catalogOf(api);
    const calls = { feature_id: callsId };
    const parent = await api.make('/v1/entitlements', {
      ...calls,
      plan_id: planId,
      usage_limit: 100,
    });
    const child = { ...calls, parent_entitlement_id: parent.id, usage_limit: 7 };
    const unknown = { ...calls, plan_id: planId, parent_entitlement_id: 'ent_x' };
    expect((await api.call('POST', '/v1/entitlements', { body: unknown })).status).toBe(404);
    const ofPlan = await api.make('/v1/entitlements', {
      ...child,
      plan_id: planId,
      is_additional: true,
    });
    expect(ofPlan.parent_entitlement_id).toBe(parent.id);
    const limit = async (): Promise<unknown> => {
      const { body } = await api.call('GET', `/v1/subscriptions/${id}/entitlements`);
      return body.features[0].entitlement.usage_limit;
    };
    expect(await limit()).toBe(107);
    const own = await api.make('/v1/entitlements', { ...child, entity_id: id });
    expect([own.parent_entitlement_id, await limit()]).toEqual([parent.id, 14]);
  });

  test('refuses a second live one of a feature on one owner, unless it is asked for', async ({
    api,
  }) => {
    const { planId, callsId } = await catalogOf(api);
    const calls = { feature_id: callsId, plan_id: planId, usage_limit: 100 };
    const body = { items: [calls] };
    const [first] = (await api.make('/v1/entitlements/bulk', body)).items;
    const again = await api.call('POST', '/v1/entitlements/bulk', { body });
    expect([again.status, again.body]).toMatchObject([
      409,
      { code: 'already_exists', details: { 'items.0.feature_id': `is taken by ${first.id}` } },
    ]);
    const twice = { items: [calls, calls].map((one) => ({ ...one, feature_id: callsId })) };
    await api.call('DELETE', `/v1/entitlements/${first.id}`);
    expect((await api.call('POST', '/v1/entitlements/bulk', { body: twice })).status).toBe(409);
    const year = { start_date: '2026-01-01T00:00:00Z', end_date: '2027-01-01T00:00:00Z' };
    await api.make('/v1/entitlements', { ...calls, ...year });
    // What ends where the other begins does not meet it.
    const next = { start_date: '2027-01-01T00:00:00Z' };
    expect((await api.make('/v1/entitlements', { ...calls, ...next })).usage_limit).toBe(100);
    const asked = { ...calls, is_additional: true };
    expect((await api.make('/v1/entitlements', asked)).usage_limit).toBe(100);
  });

  test('refuses a value of a feature that has none', async ({ api }) => {
    const { planId, callsId } = await catalogOf(api);
    const valued = { feature_id: callsId, plan_id: planId, static_value: 'gold' };
    await expectRefusals(api, '/v1/entitlements', [['a metered one', valued, 'static_value']]);
  });

  test('gives one meter one kind of reset window, wherever entitlements meet', async ({ api }) => {
    const { id, planId, callsId, requestsId } = await catalogOf(api);
    const limit = { usage_limit: 10 };
    const daily = { ...limit, usage_reset_period: 'DAILY' };
    const ofPlan = await api.make('/v1/entitlements', {
      ...daily,
      feature_id: callsId,
      plan_id: planId,
    });
    const member = 'usage_reset_period';
    const requests = { feature_id: requestsId };
    await expectRefusals(api, '/v1/entitlements', [
      ['on the plan', { ...limit, ...requests, plan_id: planId }, member],
      ['on its subscription', { ...limit, ...requests, entity_id: id }, member],
    ]);
    const own = await api.make('/v1/entitlements', { ...daily, ...requests, entity_id: id });
    const change = { body: { usage_reset_period: null } };
    const refused = await api.call('PUT', `/v1/entitlements/${own.id}`, change);
    expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, [member]]);
    await api.call('DELETE', `/v1/entitlements/${ofPlan.id}`);
    await expectRefusals(api, '/v1/entitlements', [
      ['above a subscription', { ...limit, feature_id: callsId, plan_id: planId }, member],
    ]);
    expect((await api.call('PUT', `/v1/entitlements/${own.id}`, change)).status).toBe(200);
    // Of several to one feature the most frequent one counts, whatever the others are.
    const plan = await api.make('/v1/plans', { name: 'Other' });
    const more = { ...requests, plan_id: plan.id, is_additional: true };
    for (const members of [limit, daily]) {
      await api.make('/v1/entitlements', { ...members, ...more });
    }
  });
});

describe('POST /entitlements/bulk', () => {
  test('stores all or none, and names the index of the refused one', async ({ api }) => {
    const { planId, callsId, supportId } = await catalogOf(api);
    const calls = { feature_id: callsId, plan_id: planId, usage_limit: 5 };
    const support = { feature_id: supportId, plan_id: planId, static_value: 'gold' };
    const bad = await api.call('POST', '/v1/entitlements/bulk', {
      body: { items: [calls, { ...support, static_value: undefined }] },
    });
    expect([bad.status, Object.keys(bad.body.details)]).toEqual([400, ['items.1.static_value']]);
    const unknown = { items: [calls, { ...support, feature_id: 'feat_x' }] };
    const missing = await api.call('POST', '/v1/entitlements/bulk', { body: unknown });
    expect([missing.status, Object.keys(missing.body.details)]).toEqual([404, ['items.1']]);
    const list = `/v1/plans/${planId}/entitlements`;
    expect((await api.call('GET', list)).body.pagination.total).toBe(0);
    const made = await api.make('/v1/entitlements/bulk', { items: [calls, support] });
    expect(made.items.map((one: { feature_id: string }) => one.feature_id)).toEqual([
      callsId,
      supportId,
    ]);
    const page = await api.call('GET', `${list}?order=asc&limit=1&expand=feature`);
    expect(page.body.items).toHaveLength(1);
    expect(page.body.items[0].feature.name).toBe('Calls');
    expect(page.body.pagination).toEqual({ limit: 1, offset: 0, total: 2 });
    expect((await api.call('GET', '/v1/plans/plan_x/entitlements')).status).toBe(404);
    expect((await api.call('GET', `${list}?limit=0`)).status).toBe(400);
    const none = await api.call('POST', '/v1/entitlements/bulk', { body: { items: [] } });
    expect(none.status).toBe(400);
  });
});

describe('POST /entitlements/bulk where reset windows meet', () => {
  test('compares the items of one request with each other', async ({ api }) => {
    const catalog = await catalogOf(api);
    const { id, planId, callsId, requestsId } = catalog;
    const calls = { feature_id: callsId, usage_limit: 5, usage_reset_period: 'DAILY' };
    const requests = { feature_id: requestsId, usage_limit: 5 };
    const ofPlan = { plan_id: planId };
    const ofSubscription = { entity_id: id };
    for (const [first, second] of [
      [ofPlan, ofPlan],
      [ofPlan, ofSubscription],
      [ofSubscription, ofPlan],
      [ofSubscription, ofSubscription],
    ]) {
      const items = [
        { ...calls, ...first },
        { ...requests, ...second },
      ];
      await expectRefusals(api, '/v1/entitlements/bulk', [
        [JSON.stringify([first, second]), { items }, 'items.1.usage_reset_period'],
      ]);
    }
    const other = await api.make('/v1/plans', { name: 'Other' });
    const apart = [
      { ...calls, ...ofPlan },
      { ...requests, plan_id: other.id },
      { ...calls, ...ofPlan, usage_reset_period: 'WEEKLY', is_additional: true },
    ];
    expect((await api.make('/v1/entitlements/bulk', { items: apart })).items).toHaveLength(3);
  });
});

describe('POST /entitlements/search', () => {
  test('finds by every member of its own', async ({ api }) => {
    const { id, planId, callsId, supportId } = await catalogOf(api);
    const calls = await api.make('/v1/entitlements', { feature_id: callsId, plan_id: planId });
    const support = await api.make('/v1/entitlements', {
      feature_id: supportId,
      entity_id: id,
      static_value: 'gold',
      is_enabled: false,
    });
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make('/v1/entitlements/search', body)).items.map((row: { id: string }) => row.id);
    expect((await idsOf({})).toSorted()).toEqual([calls.id, support.id].toSorted());
    expect(await idsOf({ feature_ids: [callsId] })).toEqual([calls.id]);
    expect(await idsOf({ plan_ids: [planId] })).toEqual([calls.id]);
    expect(await idsOf({ plan_ids: [id] })).toEqual([]);
    expect(await idsOf({ entity_ids: [id] })).toEqual([support.id]);
    expect(await idsOf({ entity_type: 'SUBSCRIPTION' })).toEqual([support.id]);
    expect(await idsOf({ feature_type: 'static' })).toEqual([support.id]);
    expect(await idsOf({ is_enabled: true })).toEqual([calls.id]);
    expect(await idsOf({ status: 'archived' })).toEqual([]);
  });
});

describe('PUT and DELETE /entitlements/{id}', () => {
  test('change what is given, clear what is null, and archive', async ({ api }) => {
    const { planId, callsId, supportId } = await catalogOf(api);
    const made = await api.make('/v1/entitlements', {
      feature_id: callsId,
      plan_id: planId,
      usage_limit: 1000,
      usage_reset_period: 'DAILY',
      start_date: '2026-01-01T00:00:00Z',
    });
    const path = `/v1/entitlements/${made.id}`;
    const put = async (body: object) => api.call('PUT', path, { body });
    expect((await put({ usage_limit: 2000, is_enabled: false })).body).toMatchObject({
      usage_limit: 2000,
      is_enabled: false,
      usage_reset_period: 'DAILY',
    });
    const cleared = { usage_limit: null, usage_reset_period: null, display_order: 3 };
    expect((await put(cleared)).body).toMatchObject({ ...cleared, is_enabled: false });
    const late = await put({ end_date: '2025-12-31T00:00:00Z' });
    expect([late.status, Object.keys(late.body.details)]).toEqual([400, ['end_date']]);
    expect((await put({ end_date: '2026-02-01T00:00:00Z' })).body.end_date).toBe(
      '2026-02-01T00:00:00.000Z',
    );
    expect((await put({ feature_id: supportId })).status).toBe(400);
    expect((await put({ is_enabled: null })).status).toBe(400);
    const gold = { feature_id: supportId, plan_id: planId, static_value: 'gold' };
    const support = await api.make('/v1/entitlements', gold);
    const valueless = await api.call('PUT', `/v1/entitlements/${support.id}`, {
      body: { static_value: null },
    });
    expect(Object.keys(valueless.body.details)).toEqual(['static_value']);

    expect((await api.call('DELETE', path)).status).toBe(200);
    expect((await api.call('GET', path)).body.status).toBe('archived');
    const again = await api.call('DELETE', path);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
    expect((await put({ usage_limit: 1 })).body.code).toBe('invalid_operation');
    const plan = await api.call('GET', `/v1/plans/${planId}`);
    expect(plan.body.entitlements).toHaveLength(1);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const options = method === 'PUT' ? { body: {} } : {};
      expect((await api.call(method, '/v1/entitlements/ent_x', options)).status).toBe(404);
    }
  });
});

describe('POST /subscriptions with entitlements', () => {
  test('stores overrides as entitlements of the subscription', async ({ api }) => {
    const catalog = await catalogOf(api);
    const { planId, callsId, id: other } = catalog;
    const calls = { feature_id: callsId, plan_id: planId, usage_limit: 100 };
    const parent = await api.make('/v1/entitlements', {
      ...calls,
      usage_reset_period: 'WEEKLY',
      is_soft_limit: true,
    });
    const foreign = await api.make('/v1/entitlements', {
      feature_id: callsId,
      entity_id: other,
      usage_reset_period: 'WEEKLY',
    });
    const body = partiesOf(catalog);
    const override = { parent_entitlement_id: parent.id, usage_limit: 250 };
    const subscription = await api.make('/v1/subscriptions', {
      ...body,
      override_entitlements: [override],
    });
    const { items } = await api.make('/v1/entitlements/search', { entity_ids: [subscription.id] });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      parent_entitlement_id: parent.id,
      usage_limit: 250,
      usage_reset_period: 'WEEKLY',
      is_soft_limit: true,
      is_enabled: true,
      start_date: null,
    });
    const place = 'override_entitlements';
    await expectRefusals(api, '/v1/subscriptions', [
      ['twice', { ...body, [place]: [override, override] }, `${place}.1.parent_entitlement_id`],
      [
        'of another owner',
        { ...body, [place]: [{ parent_entitlement_id: foreign.id }] },
        `${place}.0.parent_entitlement_id`,
      ],
      [
        'a limit below 0',
        { ...body, [place]: [{ ...override, usage_limit: -1 }] },
        `${place}.0.usage_limit`,
      ],
      [
        'with prorations',
        { ...body, [place]: [override], proration_behavior: 'create_prorations' },
        place,
      ],
    ]);
  });

  test('scales allowances of a short first period to their share (22.2)', async ({
    api,
    clock,
  }) => {
    clock.set('2026-08-15T00:00:00Z');
    const catalog = await catalogOf(api);
    const { planId, callsId, requestsId } = catalog;
    const monthly = await api.make('/v1/entitlements', {
      feature_id: callsId,
      plan_id: planId,
      usage_limit: 1000,
    });
    const unlimited = { feature_id: requestsId, plan_id: planId };
    await api.make('/v1/entitlements', unlimited);
    const body = { ...partiesOf(catalog), billing_cycle: 'calendar' };
    const prorated = { ...body, proration_behavior: 'create_prorations' };
    const ownOf = async (members: object) => {
      const { id } = await api.make('/v1/subscriptions', members);
      return (await api.make('/v1/entitlements/search', { entity_ids: [id] })).items;
    };
    const own = await ownOf(prorated);
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({
      parent_entitlement_id: monthly.id,
      usage_limit: 548,
      start_date: '2026-08-15T00:00:00.000Z',
      end_date: '2026-09-01T00:00:00.000Z',
    });
    expect(await ownOf(body)).toEqual([]);
    clock.set('2026-08-01T00:00:00Z');
    expect(await ownOf({ ...prorated, billing_cycle: 'anniversary' })).toEqual([]);
  });

  test('keeps the dates of what it scales, within the first period (22.2)', async ({
    api,
    clock,
  }) => {
    clock.set('2026-08-15T00:00:00Z');
    const catalog = await catalogOf(api);
    const { planId, callsId } = catalog;
    const [start, end] = ['2026-08-15T00:00:00.000Z', '2026-09-01T00:00:00.000Z'];
    const [before, inside, later] = ['2026-08-01', '2026-08-20', '2026-09-10'].map(
      (day) => `${day}T00:00:00.000Z`,
    );
    const sources: readonly (readonly [object, object | null])[] = [
      [{}, { start_date: start, end_date: end }],
      [{ start_date: before }, { start_date: start, end_date: end }],
      [{ start_date: inside }, { start_date: inside, end_date: end }],
      [{ end_date: inside }, { start_date: start, end_date: inside }],
      [{ end_date: later }, { start_date: start, end_date: end }],
      [{ start_date: later }, null],
      [{ start_date: end }, null],
      [{ end_date: start }, null],
      [{ end_date: before }, null],
      [{ start_date: inside, end_date: inside }, null],
      [{ is_enabled: false }, { start_date: start, end_date: end, is_enabled: false }],
    ];
    const expected = new Map<string, object | null>();
    for (const [dates, copy] of sources) {
      const dated = { plan_id: planId, usage_limit: 1000, ...dates };
      const body = { feature_id: callsId, is_additional: true, ...dated };
      expected.set((await api.make('/v1/entitlements', body)).id, copy);
    }
    const { id } = await api.make('/v1/subscriptions', {
      ...partiesOf(catalog),
      billing_cycle: 'calendar',
      proration_behavior: 'create_prorations',
    });
    const own = await api.make('/v1/entitlements/search', { entity_ids: [id] });
    const copies = new Map<string, object>(
      own.items.map((item: { parent_entitlement_id: string }) => [
        item.parent_entitlement_id,
        item,
      ]),
    );
    for (const [parentId, copy] of expected) {
      const found = copies.get(parentId) ?? null;
      if (copy === null) expect(found).toBeNull();
      else expect(found).toMatchObject({ usage_limit: 548, ...copy });
    }
  });
});
