import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import { searchPlans } from './plan-operations.js';
import { expectRefusals, makeKey, makeSubscription, test } from '../../testing/billing-test.js';
import { testOccasion } from '../../testing/test-occasion.js';

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
    expect(expanded.items[0]).toMatchObject({ meters: null, entitlements: null });
  });
});

describe('PUT /plans/{id}', () => {
  const PRO = {
    name: 'Pro',
    lookup_key: 'pro',
    description: 'For teams',
    display_order: 2,
    metadata: { tier: 'gold' },
  };

  test('changes the members that are there, and answers the plan as it is read', async ({
    api,
  }) => {
    const { planId, priceId } = await makeSubscription(api);
    const put = (body: unknown) => api.call('PUT', `/v1/plans/${planId}`, { body });
    const changed = await put({ name: ' Pro 2 ', description: 'New', metadata: { a: 1 } });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ name: 'Pro 2', description: 'New', metadata: { a: 1 } });
    expect(changed.body.prices.map((price: { id: string }) => price.id)).toEqual([priceId]);
    expect((await put({ display_order: 3 })).body).toMatchObject({
      name: 'Pro 2',
      description: 'New',
      display_order: 3,
      metadata: { a: 1 },
    });
    const cleared = await put({ description: null, display_order: null, metadata: null });
    expect(cleared.body).toMatchObject({ description: null, display_order: null, metadata: {} });
    expect((await api.call('GET', `/v1/plans/${planId}`)).body).toEqual(cleared.body);
  });

  test('answers 409 when If-Match names another version', async ({ api }) => {
    const { id } = await api.make('/v1/plans', PRO);
    const path = `/v1/plans/${id}`;
    const read = await api.call('GET', path);
    expect(read.headers.get('etag')).toBe('"1"');
    const putAt = (ifMatch: string, name: string) =>
      api.call('PUT', path, { body: { name }, headers: { 'if-match': ifMatch } });
    const first = await putAt('"1"', 'First');
    expect([first.status, first.headers.get('etag')]).toEqual([200, '"2"']);
    const late = await putAt('"1"', 'Late');
    expect([late.status, late.body.code]).toEqual([409, 'version_conflict']);
    expect((await putAt('*', 'Third')).headers.get('etag')).toBe('"3"');
    expect((await api.call('GET', path)).body.name).toBe('Third');
  });

  test('answers 404 for a plan that is unknown or of another tenant', async ({ api, database }) => {
    const { id } = await api.make('/v1/plans', PRO);
    const { apiKey } = await makeKey(database.database, {});
    const body = { name: 'X' };
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('PUT', `/v1/plans/${id}`, { body, headers })).status).toBe(404);
    expect((await api.call('PUT', '/v1/plans/plan_x', { body })).status).toBe(404);
  });

  test('answers 401 without credentials and 403 to a key that may only read', async ({
    api,
    database,
  }) => {
    const { id } = await api.make('/v1/plans', PRO);
    const { environment } = api;
    const { apiKey } = await makeKey(database.database, { environment, roles: ['all_reader'] });
    const putAs = (key: string) =>
      api.call('PUT', `/v1/plans/${id}`, { body: { name: 'X' }, headers: { 'x-api-key': key } });
    expect((await putAs('sk_unknown')).status).toBe(401);
    expect((await putAs(apiKey)).status).toBe(403);
  });

  test('refuses what breaks a rule, naming the member, and changes nothing', async ({ api }) => {
    const plan = await api.make('/v1/plans', PRO);
    const cases = [
      ['name', { name: ' ' }],
      ['name', { name: null }],
      ['name', { name: 'x'.repeat(256) }],
      ['display_order', { display_order: 1.5 }],
      ['metadata', { metadata: { a: {} } }],
      ['lookup_key', { lookup_key: 'other' }],
      ['status', { status: 'archived' }],
      ['version', { version: 7 }],
    ] as const;
    for (const [member, body] of cases) {
      const answer = await api.call('PUT', `/v1/plans/${plan.id}`, { body });
      expect([member, answer.status, answer.body.code]).toEqual([member, 400, 'validation_error']);
      expect(Object.keys(answer.body.details).join()).toContain(member);
    }
    expect((await api.call('GET', `/v1/plans/${plan.id}`)).body).toEqual(plan);
  });

  test('refuses a plan that is archived', async ({ api, database }) => {
    const { id } = await api.make('/v1/plans', PRO);
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE plans SET status = 'archived' WHERE id = ${id}`);
    const { status, body } = await api.call('PUT', `/v1/plans/${id}`, { body: { name: 'X' } });
    expect([status, body.code]).toEqual([400, 'invalid_operation']);
  });
});

describe('POST /plans/search with prices', () => {
  test('answers as many prices as one answer may have, and refuses more with the remedy', async ({
    api,
    database: { database },
  }) => {
    const { planId, meterId } = await makeSubscription(api);
    const other = await api.make('/v1/plans', { name: 'Other' });
    await api.make('/v1/prices', {
      entity_id: other.id,
      currency: 'usd',
      meter_id: meterId,
      amount: '1',
    });
    const clock = { now: () => Date.now() };
    const occasion = testOccasion(api);
    const search = (pricesMax: number, body: object) =>
      searchPlans({ database, clock, pricesMax }, occasion, body);
    const expand = 'prices,meters,features';
    expect(await search(2, { expand })).toMatchObject({
      items: [{ row: { id: other.id } }, { row: { id: planId } }],
    });
    for (const name of expand.split(',')) {
      const refusal = await search(1, { expand: name });
      expect(refusal).toMatchObject({ code: 'validation_error' });
      expect(refusal).toMatchObject({ message: expect.stringContaining('ask for fewer plans') });
    }
    // What the remedy says helps.
    expect(await search(1, { expand, limit: 1 })).toMatchObject({ items: [{}] });
    expect(await search(1, { expand: 'entitlements' })).toMatchObject({ items: [{}, {}] });
  });

  test('answers 400 above 10,000 prices', async ({ api, database: { database } }) => {
    const { planId, priceId } = await makeSubscription(api);
    await api.make('/v1/plans', { name: 'Other' });
    await ownerOf(database).query(sql.type(noRows)`
      INSERT INTO prices SELECT (jsonb_populate_record(prices,
        jsonb_build_object('id', 'price_' || number, 'sequence', number + 1))).*
      FROM prices, generate_series(1, 10000) AS number WHERE prices.id = ${priceId}`);
    const body = { expand: 'prices', limit: 2 };
    const answer = await api.call('POST', '/v1/plans/search', { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.details.limit).toContain('more than 10000 live prices');
    const unexpanded = await api.call('POST', '/v1/plans/search', { body: { limit: 2 } });
    expect(unexpanded.body.items.map((plan: { id: string }) => plan.id)).toContain(planId);
  });
});
