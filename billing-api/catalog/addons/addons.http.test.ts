import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, test } from '../../testing/billing-test.js';

const PATH = '/v1/addons';
const STORAGE = { name: 'Extra storage', lookup_key: 'extra-storage' };

describe('POST /addons', () => {
  test('answers 201 with every member of the specification, and null as type', async ({ api }) => {
    const body = { ...STORAGE, description: '100 GB', metadata: { team: 'core' } };
    const { status, body: addon, headers } = await api.call('POST', PATH, { body });
    expect([status, headers.get('etag')]).toEqual([201, '"1"']);
    expect(addon).toEqual({
      ...body,
      id: expect.stringMatching(/^addon_/),
      tenant_id: api.environment.tenantId,
      environment_id: api.environment.environmentId,
      prices: [],
      entitlements: [],
      type: null,
      status: 'published',
      created_at: expect.any(String),
      created_by: api.userId,
      updated_at: expect.any(String),
      updated_by: api.userId,
    });
    expect((await api.call('GET', `${PATH}/${addon.id}`)).body).toEqual(addon);
    expect((await api.call('GET', `${PATH}/lookup/extra-storage`)).body).toEqual(addon);
  });

  test('gives one lookup key to one of ten callers, and again after it was archived', async ({
    api,
  }) => {
    const create = () => api.call('POST', PATH, { body: STORAGE });
    const answers = await Promise.all(Array.from({ length: 10 }, create));
    const made = answers.filter(({ status }) => status === 201);
    expect([made.length, answers.filter(({ status }) => status === 409).length]).toEqual([1, 9]);
    expect(answers.find(({ status }) => status === 409)?.body.details).toEqual({
      lookup_key: 'is taken',
    });
    expect((await api.call('DELETE', `${PATH}/${made[0]?.body.id}`)).status).toBe(200);
    expect((await api.call('GET', `${PATH}/lookup/extra-storage`)).status).toBe(404);
    expect((await create()).status).toBe(201);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, PATH, [
      ['an empty name', { ...STORAGE, name: ' ' }, 'name'],
      ['no name', { ...STORAGE, name: undefined }, 'name'],
      ['no key', { ...STORAGE, lookup_key: undefined }, 'lookup_key'],
      ['an empty key', { ...STORAGE, lookup_key: '' }, 'lookup_key'],
      ['a key of 256', { ...STORAGE, lookup_key: 'x'.repeat(256) }, 'lookup_key'],
      ['an unknown member', { ...STORAGE, display_order: 1 }, 'display_order'],
    ]);
    const longest = { ...STORAGE, lookup_key: 'x'.repeat(255) };
    expect((await api.call('POST', PATH, { body: longest })).status).toBe(201);
  });
});

describe('an addon', () => {
  test('has the prices and entitlements that are made for it, in answers and lists', async ({
    api,
    database,
  }) => {
    const { id } = await api.make(PATH, STORAGE);
    const meter = await api.make('/v1/meters', {
      name: 'Calls',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
    });
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: meter.id,
    });
    const usage = { currency: 'usd', meter_id: meter.id, amount: '0.5' };
    const named = await api.make('/v1/prices', { ...usage, addon_id: id });
    expect(named).toMatchObject({ entity_type: 'ADDON', entity_id: id, sequence: 1, plan: null });
    expect(named.addon).toMatchObject({ id, lookup_key: 'extra-storage' });
    const bulk = await api.make('/v1/prices/bulk', {
      items: [
        { entity_id: id, currency: 'usd', amount: '9' },
        { entity_id: id, entity_type: 'ADDON', currency: 'usd', amount: '8' },
      ],
    });
    expect(bulk.items.map((price: { sequence: number }) => price.sequence)).toEqual([2, 3]);
    const entitlement = await api.make('/v1/entitlements', {
      entity_id: id,
      feature_id: feature.id,
      usage_limit: 5,
    });
    expect(entitlement).toMatchObject({ entity_type: 'ADDON', plan_id: null, plan: null });
    expect(entitlement.addon).toEqual(named.addon);
    const addon = (await api.call('GET', `${PATH}/${id}`)).body;
    const ids = [named, ...bulk.items].map((price: { id: string }) => price.id);
    expect(addon.prices.map((price: { id: string }) => price.id)).toEqual(ids);
    expect(addon.entitlements).toMatchObject([{ id: entitlement.id, usage_limit: 5 }]);
    const found = await api.make(`${PATH}/search`, {
      addon_ids: [id],
      lookup_keys: ['extra-storage'],
      expand: 'prices,entitlements',
    });
    expect(found).toEqual({ items: [addon], pagination: { limit: 50, offset: 0, total: 1 } });
    const plain = await api.make(`${PATH}/search`, {});
    expect(plain.items[0]).toMatchObject({ prices: null, entitlements: null });
    expect((await api.make('/v1/prices/search', { entity_ids: [id] })).pagination.total).toBe(3);
    const list = await api.call('GET', `${PATH}/${id}/entitlements?limit=1`);
    expect(list.body).toEqual({
      items: [expect.objectContaining({ id: entitlement.id })],
      pagination: { limit: 1, offset: 0, total: 1 },
    });
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    for (const path of [`/${id}`, `/${id}/entitlements`, '/lookup/extra-storage']) {
      expect((await api.call('GET', `${PATH}${path}`, { headers })).status).toBe(404);
    }
  });

  test('is read by its key, also by one that is a path below an addon', async ({ api }) => {
    for (const lookup_key of ['entitlements', 'creditgrants', 'search', 'a/b']) {
      const { id } = await api.make(PATH, { ...STORAGE, lookup_key });
      const path = `${PATH}/lookup/${encodeURIComponent(lookup_key)}`;
      const { status, body } = await api.call('GET', path);
      expect([lookup_key, status, body.id]).toEqual([lookup_key, 200, id]);
    }
  });

  test('is changed as it was seen, and its key never', async ({ api }) => {
    const { id } = await api.make(PATH, { ...STORAGE, description: 'x', metadata: { a: 1 } });
    const put = (body: object, headers = {}) => api.call('PUT', `${PATH}/${id}`, { body, headers });
    const changed = await put({ name: 'Storage', description: null, metadata: null });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(changed.body).toMatchObject({ name: 'Storage', description: null, metadata: {} });
    expect((await put({ name: 'B' }, { 'if-match': '"1"' })).status).toBe(409);
    for (const body of [{ name: ' ' }, { lookup_key: 'b' }, { metadata: { '': 1 } }]) {
      expect((await put(body)).status).toBe(400);
    }
    expect((await api.call('PUT', `${PATH}/addon_x`, { body: {} })).status).toBe(404);
    expect((await api.call('GET', `${PATH}/${id}`)).body).toEqual(changed.body);
  });

  test('is archived once, and takes nothing any more', async ({ api }) => {
    const { id } = await api.make(PATH, STORAGE);
    const removed = await api.call('DELETE', `${PATH}/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { message: `addon ${id} is archived` }]);
    expect((await api.call('DELETE', `${PATH}/${id}`)).body.code).toBe('invalid_operation');
    expect((await api.call('PUT', `${PATH}/${id}`, { body: { name: 'B' } })).status).toBe(400);
    expect((await api.call('GET', `${PATH}/${id}`)).body.status).toBe('archived');
    const price = { entity_id: id, currency: 'usd', amount: '1' };
    expect((await api.call('POST', '/v1/prices', { body: price })).status).toBe(404);
    const flag = await api.make('/v1/features', { name: 'Flag', type: 'boolean' });
    const entitlement = { entity_id: id, feature_id: flag.id };
    expect((await api.call('POST', '/v1/entitlements', { body: entitlement })).status).toBe(404);
    expect((await api.call('DELETE', `${PATH}/addon_x`)).status).toBe(404);
  });

  test('is archived or priced, when both come at once', async ({ api }) => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await api.make(PATH, { ...STORAGE, lookup_key: `k${round}` });
      const price = { entity_id: id, currency: 'usd', amount: '1' };
      const [removed, priced] = await Promise.all([
        api.call('DELETE', `${PATH}/${id}`),
        api.call('POST', '/v1/prices', { body: price }),
      ]);
      expect(removed.status).toBe(200);
      expect([201, 404]).toContain(priced.status);
      const { prices } = (await api.call('GET', `${PATH}/${id}`)).body;
      expect(prices).toHaveLength(priced.status === 201 ? 1 : 0);
    }
  });
});
