import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { makeKey, test } from '../../testing/billing-test.js';

const METER = {
  name: 'Calls',
  event_name: 'call',
  aggregation: { type: 'SUM', field: 'bytes', multiplier: '2' },
  filters: [{ key: 'region', values: ['eu'] }],
};
const CALLS = {
  name: 'API calls',
  type: 'metered',
  lookup_key: 'calls',
  meter: METER,
  unit_singular: 'call',
  unit_plural: 'calls',
  description: 'Every request',
  metadata: { team: 'core' },
};

function putting(api: BillingUnderTest, id: string) {
  return (body: object, headers: Record<string, string> = {}) =>
    api.call('PUT', `/v1/features/${id}`, { body, headers });
}

describe('PUT /features/{id}', () => {
  test('changes the members that are there, and clears those that are null', async ({ api }) => {
    const feature = await api.make('/v1/features', CALLS);
    const put = putting(api, feature.id);
    const alerts = { critical: { condition: 'above', threshold: 10 } };
    const rate = { conversion_rate: 0.001, unit_singular: 'kcall', unit_plural: 'kcalls' };
    const changed = await put({ name: ' Calls ', alert_settings: alerts, reporting_unit: rate });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"']);
    expect(changed.body).toEqual({
      ...feature,
      name: 'Calls',
      alert_settings: { alert_enabled: true, critical: alerts.critical, warning: null, info: null },
      reporting_unit: rate,
      updated_at: changed.body.updated_at,
    });
    const cleared = await put({
      description: null,
      unit_singular: null,
      unit_plural: null,
      alert_settings: null,
      reporting_unit: null,
      metadata: null,
    });
    expect(cleared.body).toMatchObject({
      description: null,
      unit_singular: null,
      unit_plural: null,
      alert_settings: null,
      reporting_unit: null,
      metadata: {},
    });
    expect((await api.call('GET', `/v1/features/${feature.id}`)).body).toEqual(cleared.body);
  });

  test('puts a feature into a group and takes it out again', async ({ api }) => {
    const { id } = await api.make('/v1/features', CALLS);
    const group = { name: 'G', entity_type: 'feature', lookup_key: 'g' };
    const made = await api.make('/v1/groups', group);
    const put = putting(api, id);
    expect((await put({ group_id: made.id })).body.group.entity_ids).toEqual([id]);
    expect((await put({ group_id: '' })).body).toMatchObject({ group_id: null, group: null });
    expect((await put({ group_id: 'group_x' })).status).toBe(404);
  });

  test('replaces the filters of its meter, as a change of the meter does', async ({ api }) => {
    const { id, meter } = await api.make('/v1/features', CALLS);
    const filters = [{ key: 'region', values: ['eu', 'us'] }];
    const changed = await putting(api, id)({ filters });
    expect(changed.body.meter).toMatchObject({ id: meter.id, filters, version: 2 });
    const read = await api.call('GET', `/v1/meters/${meter.id}`);
    expect(read.body).toEqual(changed.body.meter);
  });

  test('refuses what breaks a rule, naming the member, and changes nothing', async ({ api }) => {
    const feature = await api.make('/v1/features', CALLS);
    const critical = { condition: 'above', threshold: 10 };
    const cases: readonly (readonly [string, object])[] = [
      ['name', { name: ' ' }],
      ['unit_plural', { unit_plural: null }],
      ['alert_settings.warning', { alert_settings: { warning: critical } }],
      [
        'filters',
        {
          filters: [
            { key: 'a', values: ['1'] },
            { key: 'a', values: ['2'] },
          ],
        },
      ],
      ['lookup_key', { lookup_key: 'other' }],
      ['type', { type: 'boolean' }],
      ['meter_id', { meter_id: 'meter_x' }],
    ];
    const put = putting(api, feature.id);
    for (const [member, body] of cases) {
      const { status, body: error } = await put(body);
      expect([member, status, error.code]).toEqual([member, 400, 'validation_error']);
      expect(Object.keys(error.details).join()).toContain(member);
    }
    const flag = await api.make('/v1/features', { name: 'Flag', type: 'boolean' });
    const refused = await putting(api, flag.id)({ filters: METER.filters });
    expect(refused.body.details).toEqual({ filters: 'must be left out for type boolean' });
    expect((await put({ name: 'Late' }, { 'if-match': '"7"' })).status).toBe(409);
    expect((await api.call('GET', `/v1/features/${feature.id}`)).body).toEqual(feature);
    expect((await putting(api, 'feat_x')({ name: 'X' })).status).toBe(404);
  });
});

describe('DELETE /features/{id}', () => {
  test('archives the feature and its meter, and frees its key', async ({ api }) => {
    const { id, meter } = await api.make('/v1/features', CALLS);
    const removed = await api.call('DELETE', `/v1/features/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { message: `feature ${id} is archived` }]);
    const statusOf = async (path: string) => (await api.call('GET', path)).body.status;
    expect(await statusOf(`/v1/features/${id}`)).toBe('archived');
    expect(await statusOf(`/v1/meters/${meter.id}`)).toBe('archived');
    expect((await api.call('POST', '/v1/features', { body: CALLS })).status).toBe(201);
    const again = await api.call('DELETE', `/v1/features/${id}`);
    expect([again.status, again.body.code]).toEqual([400, 'invalid_operation']);
  });

  test('keeps a meter that a price or another feature uses', async ({ api }) => {
    const { id, meter } = await api.make('/v1/features', CALLS);
    const second = { name: 'Second', type: 'metered', meter_id: meter.id };
    const other = await api.make('/v1/features', second);
    const isPublished = async () =>
      (await api.call('GET', `/v1/meters/${meter.id}`)).body.status === 'published';
    await api.call('DELETE', `/v1/features/${id}`);
    expect(await isPublished()).toBe(true);
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', meter_id: meter.id, amount: '1' };
    await api.make('/v1/prices', price);
    expect((await api.call('DELETE', `/v1/features/${other.id}`)).status).toBe(200);
    expect(await isPublished()).toBe(true);
  });

  test('is refused while an entitlement names the feature', async ({ api }) => {
    const { id } = await api.make('/v1/features', CALLS);
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const entitlement = await api.make('/v1/entitlements', { plan_id: plan.id, feature_id: id });
    const refused = await api.call('DELETE', `/v1/features/${id}`);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toContain('entitlement that is not archived');
    await api.call('DELETE', `/v1/entitlements/${entitlement.id}`);
    expect((await api.call('DELETE', `/v1/features/${id}`)).status).toBe(200);
  });

  test('or an entitlement of the feature wins, when both come at once', async ({ api }) => {
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    for (let round = 0; round < 10; round += 1) {
      const body = { name: `Flag ${round}`, type: 'boolean' };
      const { id } = await api.make('/v1/features', body);
      const entitlement = { plan_id: plan.id, feature_id: id };
      const [removed, created] = await Promise.all([
        api.call('DELETE', `/v1/features/${id}`),
        api.call('POST', '/v1/entitlements', { body: entitlement }),
      ]);
      expect([200, 400]).toContain(removed.status);
      expect(created.status).toBe(removed.status === 200 ? 400 : 201);
    }
  });
});

describe('POST /features/{id}/clone', () => {
  test('answers a feature with a meter of its own, which counts the same', async ({ api }) => {
    const source = await api.make('/v1/features', CALLS);
    const path = `/v1/features/${source.id}/clone`;
    const { status, body } = await api.call('POST', path, { body: { name: 'EU Calls' } });
    expect(status).toBe(201);
    const ownMembers = ['id', 'created_at', 'updated_at', 'name', 'lookup_key', 'metadata'];
    for (const [name, value] of Object.entries(source)) {
      if ([...ownMembers, 'meter', 'meter_id'].includes(name)) continue;
      expect([name, body[name]]).toEqual([name, value]);
    }
    expect(body).toMatchObject({
      name: 'EU Calls',
      lookup_key: 'eu_calls',
      metadata: { team: 'core', source_feature_id: source.id },
    });
    const { id, created_at: createdAt, updated_at: updatedAt } = body.meter;
    expect(id).not.toBe(source.meter.id);
    const copied = { id, created_at: createdAt, updated_at: updatedAt };
    expect(body.meter).toEqual({ ...source.meter, ...copied });
  });

  test('takes key, description and metadata of the request', async ({ api }) => {
    const source = await api.make('/v1/features', CALLS);
    const body = {
      name: 'B',
      lookup_key: 'b',
      description: 'Other',
      metadata: { team: 'b', x: 1 },
    };
    const clone = await api.make(`/v1/features/${source.id}/clone`, body);
    expect(clone).toMatchObject({
      ...body,
      metadata: { team: 'b', x: 1, source_feature_id: source.id },
    });
  });

  test('refuses a taken key, an empty name, and a source that is archived or foreign', async ({
    api,
    database,
  }) => {
    const { id } = await api.make('/v1/features', { name: 'Flag', type: 'boolean' });
    const clone = (body: object, headers = {}) =>
      api.call('POST', `/v1/features/${id}/clone`, { body, headers });
    expect((await clone({ name: 'Flag' })).status).toBe(409);
    expect((await clone({ name: ' ' })).status).toBe(400);
    const { apiKey } = await makeKey(database.database, {});
    expect((await clone({ name: 'Mine' }, { 'x-api-key': apiKey })).status).toBe(404);
    await api.call('DELETE', `/v1/features/${id}`);
    const late = await clone({ name: 'Late' });
    expect([late.status, late.body.code]).toEqual([400, 'invalid_operation']);
  });
});
