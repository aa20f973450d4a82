import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { expectRefusals, makeKey, makeSubscription, test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';

const COUNT = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
const TIERS = [
  { unit_amount: '0.10', up_to: 100 },
  { unit_amount: '0.05', flat_amount: '2' },
];

async function catalogOf(api: BillingUnderTest) {
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const meter = await api.make('/v1/meters', COUNT);
  return { planId: plan.id as string, meterId: meter.id as string };
}

describe('POST /prices', () => {
  test('completes a usage price and shows what it refers to', async ({ api }) => {
    const { planId, meterId } = await catalogOf(api);
    const body = { entity_id: planId, currency: 'USD', meter_id: meterId, amount: '0.00250' };
    const { status, body: price } = await api.call('POST', '/v1/prices', { body });
    expect(status).toBe(201);
    expect(price).toMatchObject({
      type: 'USAGE',
      billing_model: 'FLAT_FEE',
      billing_cadence: 'RECURRING',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      invoice_cadence: 'ARREAR',
      amount: '0.0025',
      currency: 'usd',
      display_amount: '$0.0025',
      entity_type: 'PLAN',
      sequence: 1,
      price_unit_type: 'FIAT',
      tiers: null,
      end_date: null,
      pricing_unit: null,
    });
    expect(price.meter.id).toBe(meterId);
    expect(price.plan.id).toBe(planId);
  });

  test('stores tiers, packages, dates and the quantity of a fixed price', async ({ api }) => {
    const { planId, meterId } = await catalogOf(api);
    const tiered = await api.make('/v1/prices', {
      plan_id: planId,
      currency: 'eur',
      meter_id: meterId,
      tiers: TIERS,
      tier_mode: 'SLAB',
      filter_values: { region: 'eu' },
      start_date: '2026-01-01T01:00:00+01:00',
      end_date: '2027-01-01T00:00:00Z',
    });
    expect(tiered).toMatchObject({
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { unit_amount: '0.1', flat_amount: null, up_to: 100 },
        { unit_amount: '0.05', flat_amount: '2', up_to: null },
      ],
      filter_values: { region: ['eu'] },
      start_date: '2026-01-01T00:00:00.000Z',
      end_date: '2027-01-01T00:00:00.000Z',
      display_amount: null,
    });
    const seats = await api.make('/v1/prices', {
      plan_id: planId,
      currency: 'eur',
      amount: '5',
      transform_quantity: { divide_by: 10 },
      min_quantity: 2.5,
      display_name: 'Seats',
    });
    expect(seats).toMatchObject({
      type: 'FIXED',
      billing_model: 'PACKAGE',
      invoice_cadence: 'ADVANCE',
      transform_quantity: { divide_by: 10, round: 'up' },
      min_quantity: '2.5',
      sequence: 2,
    });
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const { planId, meterId } = await catalogOf(api);
    const price = { entity_id: planId, currency: 'usd', amount: '1' };
    const usage = { ...price, meter_id: meterId };
    await expectRefusals(api, '/v1/prices', [
      ['no owner', { ...price, entity_id: undefined }, 'entity_id'],
      ['an empty owner', { ...price, entity_id: '' }, 'entity_id'],
      ['two owners', { ...price, plan_id: 'plan_x' }, 'entity_id'],
      ['no currency', { ...price, currency: undefined }, 'currency'],
      ['a currency of digits', { ...price, currency: '123' }, 'currency'],
      ['no amount', { ...price, amount: undefined }, 'amount'],
      ['a negative amount', { ...price, amount: '-1' }, 'amount'],
      ['an amount of 400 digits', { ...price, amount: '9'.repeat(400) }, 'amount'],
      ['an amount with exponent', { ...price, amount: '1e3' }, 'amount'],
      ['an amount of 19 fraction digits', { ...price, amount: `0.${'1'.repeat(19)}` }, 'amount'],
      ['a number as amount', { ...price, amount: 1 }, 'amount'],
      ['a count of 0', { ...price, billing_period_count: 0 }, 'billing_period_count'],
      [
        'tiers without an open end',
        { ...usage, tiers: [{ unit_amount: '1', up_to: 5 }] },
        'tiers.0.up_to',
      ],
      [
        'tiers that fall',
        {
          ...usage,
          tiers: [
            { unit_amount: '1', up_to: 5 },
            { unit_amount: '1', up_to: 5 },
            { unit_amount: '1' },
          ],
        },
        'tiers.1.up_to',
      ],
      [
        'a bad amount in a tier',
        { ...usage, tiers: [{ unit_amount: 'x' }] },
        'tiers.0.unit_amount',
      ],
      [
        'an unknown member in a tier',
        { ...usage, tiers: [{ unit_amount: '1', colour: 1 }] },
        'tiers.0.colour',
      ],
      ['usage in advance', { ...usage, invoice_cadence: 'ADVANCE' }, 'invoice_cadence'],
      ['usage without a meter', { ...price, type: 'USAGE' }, 'meter_id'],
      [
        'an end before the start',
        { ...price, start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-01T00:00:00Z' },
        'end_date',
      ],
      ['an impossible date', { ...price, start_date: '2026-02-30T00:00:00Z' }, 'start_date'],
      ['filter values of numbers', { ...usage, filter_values: { a: 1 } }, 'filter_values.a'],
    ]);
  });

  test('answers 404 for a plan, meter or addon that is not there or belongs to others', async ({
    api,
    database,
  }) => {
    const { planId, meterId } = await catalogOf(api);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    const body = { entity_id: planId, currency: 'usd', amount: '1' };
    expect((await api.call('POST', '/v1/prices', { body, headers })).status).toBe(404);
    const unknown = [
      { ...body, entity_id: 'plan_x' },
      { ...body, meter_id: 'meter_x' },
      { ...body, entity_id: undefined, addon_id: 'addon_x' },
      { ...body, entity_type: 'ADDON' },
      { ...body, entity_type: 'SUBSCRIPTION' },
    ];
    for (const wrong of unknown) {
      expect((await api.call('POST', '/v1/prices', { body: wrong })).status).toBe(404);
    }
    expect(
      (await api.call('POST', '/v1/prices', { body: { ...body, meter_id: meterId } })).status,
    ).toBe(201);
  });
});

describe('POST /prices/bulk', () => {
  test('stores all prices in order, or none', async ({ api }) => {
    const { planId } = await catalogOf(api);
    const price = { entity_id: planId, currency: 'usd', amount: '1' };
    const items = [
      { ...price, lookup_key: 'a' },
      { ...price, lookup_key: 'b' },
    ];
    const made = await api.call('POST', '/v1/prices/bulk', { body: { items } });
    expect(made.status).toBe(201);
    expect(made.body.items.map((row: { sequence: number }) => row.sequence)).toEqual([1, 2]);
    const taken = {
      items: [
        { ...price, lookup_key: 'c' },
        { ...price, lookup_key: 'b' },
      ],
    };
    const conflict = await api.call('POST', '/v1/prices/bulk', { body: taken });
    expect(conflict.status).toBe(409);
    expect(conflict.body.details).toEqual({ 'items.1.lookup_key': 'is taken' });
    const twice = {
      items: [
        { ...price, lookup_key: 'd' },
        { ...price, lookup_key: 'd' },
      ],
    };
    expect((await api.call('POST', '/v1/prices/bulk', { body: twice })).status).toBe(409);
    const bad = { items: [price, { ...price, amount: '-1' }] };
    const refused = await api.call('POST', '/v1/prices/bulk', { body: bad });
    expect(Object.keys(refused.body.details)).toEqual(['items.1.amount']);
    expect((await api.make('/v1/prices/search', {})).pagination.total).toBe(2);
  });

  test('takes 1 to 100 prices', async ({ api }) => {
    const { planId } = await catalogOf(api);
    const price = { entity_id: planId, currency: 'usd', amount: '1' };
    await expectRefusals(api, '/v1/prices/bulk', [
      ['none', { items: [] }, 'items'],
      ['101', { items: Array(101).fill(price) }, 'items'],
    ]);
    const { body } = await api.call('POST', '/v1/prices/bulk', {
      body: { items: Array(100).fill(price) },
    });
    expect(body.items).toHaveLength(100);
  });

  test('keeps at most 5000 live prices of one plan, also under simultaneous requests', async ({
    api,
    database,
  }) => {
    const { planId } = await catalogOf(api);
    const price = { entity_id: planId, currency: 'usd', amount: '1' };
    await api.make('/v1/prices', price);
    await ownerOf(database.database).query(sql.type(z.unknown())`
      INSERT INTO prices SELECT (jsonb_populate_record(p,
        jsonb_build_object('id', 'price_' || n, 'sequence', n))).*
      FROM prices p, generate_series(2, 4901) n`);
    const items = Array(60).fill(price);
    const answers = await Promise.all(
      [1, 2].map(() => api.call('POST', '/v1/prices/bulk', { body: { items } })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 400]);
    const ended = {
      ...price,
      start_date: '2020-01-01T00:00:00Z',
      end_date: '2021-01-01T00:00:00Z',
    };
    const body = { items: Array(60).fill(ended) };
    expect((await api.call('POST', '/v1/prices/bulk', { body })).status).toBe(201);
  });
});

describe('GET /prices', () => {
  test('answers by id and by lookup key, and 404 for what is unknown', async ({ api }) => {
    const { planId, meterId } = await catalogOf(api);
    const price = await api.make('/v1/prices', {
      entity_id: planId,
      currency: 'jpy',
      meter_id: meterId,
      amount: '3',
      lookup_key: 'calls/jpy',
    });
    expect((await api.call('GET', `/v1/prices/${price.id}`)).body).toEqual(price);
    const byKey = await api.call('GET', `/v1/prices/lookup/${encodeURIComponent('calls/jpy')}`);
    expect(byKey.body).toEqual(price);
    expect((await api.call('GET', '/v1/prices/price_x')).status).toBe(404);
    expect((await api.call('GET', '/v1/prices/lookup/none')).status).toBe(404);
  });
});

describe('POST /prices/search', () => {
  test('finds by every member of its own', async ({ api }) => {
    const { planId, priceId, meterId } = await makeSubscription(api);
    const seat = await api.make('/v1/prices', {
      entity_id: planId,
      currency: 'usd',
      amount: '12',
      billing_period: 'ANNUAL',
    });
    const ended = await api.make('/v1/prices', {
      entity_id: planId,
      currency: 'usd',
      amount: '1',
      start_date: '2020-01-01T00:00:00Z',
      end_date: '2021-01-01T00:00:00Z',
    });
    const idsOf = async (body: unknown): Promise<string[]> =>
      (await api.make('/v1/prices/search', body)).items.map((row: { id: string }) => row.id);
    expect(await idsOf({})).toEqual([seat.id, priceId]);
    expect(await idsOf({ allow_expired_prices: true })).toEqual([ended.id, seat.id, priceId]);
    expect(await idsOf({ price_ids: [priceId] })).toEqual([priceId]);
    expect(await idsOf({ plan_ids: ['plan_x'] })).toEqual([]);
    expect(await idsOf({ entity_ids: [planId], meter_ids: [meterId] })).toEqual([priceId]);
    expect(await idsOf({ billing_periods: ['ANNUAL'] })).toEqual([seat.id]);
    expect(await idsOf({ entity_type: 'ADDON' })).toEqual([]);
    expect(await idsOf({ subscription_id: 'subs_x' })).toEqual([]);
    expect(await idsOf({ parent_price_id: 'price_x' })).toEqual([]);
    const before = { start_date_lt: '2021-01-01T00:00:00Z', allow_expired_prices: true };
    expect(await idsOf(before)).toEqual([ended.id]);
    const expanded = await api.make('/v1/prices/search', { expand: 'meter, plan,pricing_unit' });
    expect(expanded.items[1].meter.id).toBe(meterId);
    expect(expanded.items[0].pricing_unit).toBeNull();
    expect(expanded.items[0].addon).toBeNull();
  });
});
