import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, test } from '../../testing/billing-test.js';

const PATH = '/v1/groups';
const STORAGE = { name: 'Storage', entity_type: 'feature', lookup_key: 'storage' };
const FEATURE = { name: 'Disk', type: 'boolean' };

describe('POST /groups', () => {
  test('answers 201 with every member of the specification and no other', async ({ api }) => {
    const body = { ...STORAGE, metadata: { team: 'core' } };
    const { status, body: group } = await api.call('POST', PATH, { body });
    expect([status, group]).toEqual([
      201,
      {
        ...body,
        id: expect.stringMatching(/^group_/),
        entity_ids: [],
        status: 'published',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
  });

  test('answers 409 for a lookup key that is taken, but not by an archived group or another tenant', async ({
    api,
    database,
  }) => {
    const { id } = await api.make(PATH, STORAGE);
    const again = await api.call('POST', PATH, { body: STORAGE });
    expect([again.status, again.body.details]).toEqual([409, { lookup_key: 'is taken' }]);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('POST', PATH, { body: STORAGE, headers })).status).toBe(201);
    expect((await api.call('DELETE', `${PATH}/${id}`)).status).toBe(204);
    expect((await api.call('POST', PATH, { body: STORAGE })).status).toBe(201);
    expect((await api.call('GET', `${PATH}/${id}`)).body.status).toBe('archived');
    expect((await api.call('DELETE', `${PATH}/${id}`)).status).toBe(400);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, PATH, [
      ['an empty name', { ...STORAGE, name: ' ' }, 'name'],
      ['no kind', { ...STORAGE, entity_type: undefined }, 'entity_type'],
      ['another kind', { ...STORAGE, entity_type: 'plan' }, 'entity_type'],
      ['no key', { ...STORAGE, lookup_key: undefined }, 'lookup_key'],
      ['an empty key', { ...STORAGE, lookup_key: '' }, 'lookup_key'],
      ['a key of 256', { ...STORAGE, lookup_key: 'x'.repeat(256) }, 'lookup_key'],
      ['members of it', { ...STORAGE, entity_ids: [] }, 'entity_ids'],
    ]);
  });
});

describe('a group', () => {
  test('lists the published features that name it, which answer it as their group', async ({
    api,
  }) => {
    const group = await api.make(PATH, STORAGE);
    const named = { ...FEATURE, group_id: group.id };
    const disk = await api.make('/v1/features', named);
    const tape = await api.make('/v1/features', { ...named, name: 'Tape' });
    await api.call('DELETE', `/v1/features/${tape.id}`);
    const read = (await api.call('GET', `${PATH}/${group.id}`)).body;
    expect(read).toEqual({ ...group, entity_ids: [disk.id] });
    expect(disk).toMatchObject({ group_id: group.id, group: read });
    const { items } = await api.make('/v1/features/search', { expand: 'group' });
    expect(items.map((feature: { group: unknown }) => feature.group)).toEqual([read]);
  });

  test('takes prices or features, whichever it is for, as long as it is published', async ({
    api,
  }) => {
    const storage = await api.make(PATH, STORAGE);
    const fees = await api.make(PATH, { ...STORAGE, entity_type: 'price', lookup_key: 'fees' });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '1' };
    const named = await api.make('/v1/prices', { ...price, group_id: fees.id });
    expect(named).toMatchObject({ group_id: fees.id, group: { entity_ids: [named.id] } });
    const wrong = { ...price, group_id: storage.id };
    const answer = await api.call('POST', '/v1/prices/bulk', { body: { items: [price, wrong] } });
    expect([answer.status, answer.body.details]).toEqual([
      400,
      { 'items.1.group_id': 'must name a group whose entity_type is price' },
    ]);
    await api.call('DELETE', `${PATH}/${storage.id}`);
    const late = await api.call('POST', '/v1/features', {
      body: { ...FEATURE, group_id: storage.id },
    });
    expect([late.status, late.body.details]).toEqual([
      400,
      {
        group_id: 'names a record that is archived or deleted; name a published one',
      },
    ]);
    const unknown = { ...FEATURE, group_id: 'group_x' };
    expect((await api.call('POST', '/v1/features', { body: unknown })).status).toBe(404);
  });

  test('is found by kind, key and name', async ({ api }) => {
    const storage = await api.make(PATH, STORAGE);
    const fees = await api.make(PATH, {
      ...STORAGE,
      name: 'Fees',
      entity_type: 'price',
      lookup_key: 'fees',
    });
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make(`${PATH}/search`, body)).items.map((group: { id: string }) => group.id);
    expect(await idsOf({})).toEqual([fees.id, storage.id]);
    expect(await idsOf({ entity_type: 'price' })).toEqual([fees.id]);
    expect(await idsOf({ lookup_key: 'storage' })).toEqual([storage.id]);
    expect(await idsOf({ name_contains: 'STOR' })).toEqual([storage.id]);
  });
});
