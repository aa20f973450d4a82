import { describe, expect } from 'vitest';
import { expectRefusals, makeKey, test } from '../../testing/billing-test.js';

const METER = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
const METERED = { name: 'API calls (EU)', type: 'metered', meter: METER };

describe('POST /features', () => {
  test('makes a feature together with its meter and derives the lookup key', async ({ api }) => {
    const { status, body } = await api.call('POST', '/v1/features', { body: METERED });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'API calls (EU)',
      lookup_key: 'api_calls_eu_',
      type: 'metered',
      meter: { name: 'Calls', event_name: 'call' },
      group: null,
      description: null,
      reporting_unit: null,
    });
    expect(body.meter_id).toBe(body.meter.id);
  });

  test('takes an existing meter, units and alerts', async ({ api }) => {
    const meter = await api.make('/v1/meters', METER);
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: meter.id,
      unit_singular: 'call',
      unit_plural: 'calls',
      reporting_unit: { conversion_rate: 0.001, unit_singular: 'kcall', unit_plural: 'kcalls' },
      alert_settings: { alert_enabled: true, critical: { condition: 'above', threshold: 10 } },
      metadata: { team: 'core', tier: 1, live: true },
    });
    expect(feature).toMatchObject({
      unit_plural: 'calls',
      reporting_unit: { conversion_rate: 0.001 },
      alert_settings: { alert_enabled: true, warning: null, info: null },
      metadata: { team: 'core', tier: 1, live: true },
    });
  });

  test('evaluates alerts unless it is told not to', async ({ api }) => {
    const critical = { condition: 'above', threshold: 10 };
    const alertsOf = async (name: string, alert_settings: object) =>
      (await api.make('/v1/features', { name, type: 'boolean', alert_settings })).alert_settings;
    expect(await alertsOf('A', { critical })).toMatchObject({ alert_enabled: true, critical });
    expect(await alertsOf('B', {})).toMatchObject({ alert_enabled: true, critical: null });
    expect(await alertsOf('C', { alert_enabled: false, critical })).toMatchObject({
      alert_enabled: false,
    });
  });

  test('takes levels of alerts in their order only, equal ones too', async ({ api }) => {
    const level = (condition: 'above' | 'below') => (threshold: number) => ({
      condition,
      threshold,
    });
    const [above, below] = [level('above'), level('below')];
    const settings: readonly (readonly [object, string | null])[] = [
      [{ info: above(3) }, null],
      [{ critical: above(10), info: below(3) }, null],
      [{ critical: above(10), warning: above(9.5) }, null],
      [{ critical: above(10), warning: above(10) }, null],
      [{ critical: above(10), warning: above(10.5) }, 'alert_settings.warning'],
      [{ critical: below(10), warning: below(10.5) }, null],
      [{ critical: below(10), warning: below(10) }, null],
      [{ critical: below(10), warning: below(-10) }, 'alert_settings.warning'],
      [{ critical: above(10), warning: below(20) }, 'alert_settings.warning'],
      [{ warning: above(10) }, 'alert_settings.warning'],
      [{ alert_enabled: false, warning: above(10), info: above(1) }, 'alert_settings.warning'],
    ];
    for (const [index, [alert_settings, member]] of settings.entries()) {
      const body = { name: `Alerts ${index}`, type: 'boolean', alert_settings };
      const { status, body: answer } = await api.call('POST', '/v1/features', { body });
      const named = status === 201 ? null : Object.keys(answer.details)[0];
      expect([alert_settings, named]).toEqual([alert_settings, member]);
    }
  });

  test('answers 409 for a lookup key that is taken and stores no meter', async ({ api }) => {
    await api.make('/v1/features', { name: 'Seat', type: 'boolean' });
    const body = { ...METERED, name: 'seat' };
    const { status, body: error } = await api.call('POST', '/v1/features', { body });
    expect(status).toBe(409);
    expect(error).toMatchObject({ code: 'already_exists', details: { lookup_key: 'is taken' } });
    expect((await api.call('GET', '/v1/meters')).body.pagination.total).toBe(0);
  });

  test('answers 404 for an unknown meter and for one of another tenant', async ({
    api,
    database,
  }) => {
    const { apiKey } = await makeKey(database.database, {});
    const meter = await api.make('/v1/meters', METER);
    const body = { name: 'F', type: 'metered', meter_id: meter.id };
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('POST', '/v1/features', { body, headers })).status).toBe(404);
    const unknown = { body: { ...body, meter_id: 'meter_x' } };
    expect((await api.call('POST', '/v1/features', unknown)).status).toBe(404);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, '/v1/features', [
      ['no type', { name: 'F' }, 'type'],
      ['metered without a meter', { name: 'F', type: 'metered' }, 'meter_id'],
      ['both meters', { ...METERED, meter_id: 'meter_x' }, 'meter'],
      ['boolean with a meter', { ...METERED, type: 'boolean' }, 'meter'],
      ['one unit only', { name: 'F', type: 'static', unit_singular: 'u' }, 'unit_plural'],
      [
        'a rate of 0',
        {
          name: 'F',
          type: 'static',
          reporting_unit: { conversion_rate: 0, unit_singular: 'a', unit_plural: 'b' },
        },
        'reporting_unit.conversion_rate',
      ],
      ['a bad inline meter', { ...METERED, meter: { ...METER, name: ' ' } }, 'meter.name'],
      [
        'a lookup key of 256',
        { name: 'F', type: 'static', lookup_key: 'x'.repeat(256) },
        'lookup_key',
      ],
    ]);
    const { status } = await api.call('POST', '/v1/features', {
      body: { name: 'a\u0000b', type: 'static' },
    });
    expect(status).toBe(400);
  });
});

describe('GET /features/{id}', () => {
  test('answers the feature with its meter, and 404 for an unknown one', async ({ api }) => {
    const created = await api.make('/v1/features', METERED);
    const { status, body } = await api.call('GET', `/v1/features/${created.id}`);
    expect(status).toBe(200);
    expect(body).toEqual(created);
    expect((await api.call('GET', '/v1/features/feat_x')).status).toBe(404);
  });
});

describe('POST /features/search', () => {
  test('finds by every member of its own and expands on request', async ({ api }) => {
    const metered = await api.make('/v1/features', METERED);
    const seat = await api.make('/v1/features', { name: 'Seat', type: 'boolean' });
    const idsOf = async (body: unknown): Promise<string[]> => {
      const answer = await api.make('/v1/features/search', body);
      return answer.items.map((feature: { id: string }) => feature.id);
    };
    expect(await idsOf({})).toEqual([seat.id, metered.id]);
    expect(await idsOf({ feature_ids: [seat.id] })).toEqual([seat.id]);
    expect(await idsOf({ meter_ids: [metered.meter_id] })).toEqual([metered.id]);
    expect(await idsOf({ lookup_key: 'seat' })).toEqual([seat.id]);
    expect(await idsOf({ lookup_keys: ['seat', 'x'] })).toEqual([seat.id]);
    expect(await idsOf({ name_contains: 'CALLS' })).toEqual([metered.id]);
    expect(await idsOf({ type: 'boolean' })).toEqual([seat.id]);
    expect(await idsOf({ status: 'archived' })).toEqual([]);
    const plain = await api.make('/v1/features/search', { type: 'metered' });
    expect(plain.items[0].meter).toBeNull();
    const expanded = await api.make('/v1/features/search', {
      type: 'metered',
      expand: 'meter,group',
    });
    expect(expanded.items[0].meter.id).toBe(metered.meter_id);
    expect(expanded.items[0].group).toBeNull();
  });
});
