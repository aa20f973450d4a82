import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, makeSubscription, test } from '../../testing/billing-test.js';

describe('POST /plans', () => {
  test('answers 201 with every member', async ({ api }) => {
    const body = { name: 'Pro', lookup_key: 'pro', description: 'For teams', display_order: 2 };
    const { status, body: plan } = await api.call('POST', '/v1/plans', { body });
    expect(status).toBe(201);
    expect(plan).toMatchObject({ ...body, prices: [], entitlements: [], credit_grants: [] });
  });

  test('answers 409 for a lookup key that is taken, but not by another tenant', async ({
    api,
    database,
  }) => {
    const body = { name: 'Pro', lookup_key: 'pro' };
    await api.make('/v1/plans', body);
    const again = await api.call('POST', '/v1/plans', { body });
    expect(again.status).toBe(409);
    expect(again.body.code).toBe('already_exists');
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('POST', '/v1/plans', { body, headers })).status).toBe(201);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, '/v1/plans', [
      ['no name', {}, 'name'],
      ['an empty name', { name: '' }, 'name'],
      ['a number as name', { name: 3 }, 'name'],
      ['a fraction as order', { name: 'P', display_order: 1.5 }, 'display_order'],
      ['a text as order', { name: 'P', display_order: '1' }, 'display_order'],
      ['an order beyond 32 bits', { name: 'P', display_order: 2 ** 31 }, 'display_order'],
      ['metadata as list', { name: 'P', metadata: [] }, 'metadata'],
      ['null in metadata', { name: 'P', metadata: { a: null } }, 'metadata.a'],
      ['an empty metadata key', { name: 'P', metadata: { '': 1 } }, 'metadata'],
      ['prices', { name: 'P', prices: [] }, 'prices'],
    ]);
  });
});

describe('GET /plans/{id}', () => {
  test('answers prices, meters and features of the plan', async ({ api }) => {
    const { planId, meterId, priceId } = await makeSubscription(api);
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: meterId,
    });
    const { status, body } = await api.call('GET', `/v1/plans/${planId}`);
    expect(status).toBe(200);
    expect(body.prices.map((price: { id: string }) => price.id)).toEqual([priceId]);
    expect(body.meters.map((meter: { id: string }) => meter.id)).toEqual([meterId]);
    expect(body.features.map((row: { id: string }) => row.id)).toEqual([feature.id]);
    expect((await api.call('GET', '/v1/plans/plan_x')).status).toBe(404);
  });
});

describe('POST /plans/search', () => {
  test('finds by ids, keys and names, and expands on request', async ({ api }) => {
    const { planId, priceId } = await makeSubscription(api);
    const free = await api.make('/v1/plans', { name: 'Free', lookup_key: 'free' });
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make('/v1/plans/search', body)).items.map((plan: { id: string }) => plan.id);
    expect(await idsOf({ plan_ids: [planId] })).toEqual([planId]);
    expect(await idsOf({ lookup_keys: ['free'] })).toEqual([free.id]);
    expect(await idsOf({ name_contains: 'pr' })).toEqual([planId]);
    const expanded = await api.make('/v1/plans/search', { plan_ids: [planId], expand: 'prices' });
    expect(expanded.items[0].prices[0].id).toBe(priceId);
    expect(expanded.items[0]).not.toHaveProperty('meters');
  });
});
