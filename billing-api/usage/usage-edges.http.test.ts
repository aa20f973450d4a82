import { describe, expect } from 'vitest';
import { AGGREGATION_TYPES, type MeterAggregation } from '../../contract/aggregation.js';
import type { Database } from '../../sql/pool.js';
import { expectRefusals, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { storeEvents, type StoredEvent, type UsageTarget } from '../testing/write-usage-minutes.js';
import { generationOf } from '../testing/meter-generation.js';

const USAGE = '/v1/events/usage';

/** A meter through the API, and where the rows of its minutes go. */
async function makeMeter(
  api: BillingUnderTest,
  database: Database,
  members: { readonly aggregation: object },
): Promise<UsageTarget> {
  const meter = await api.make('/v1/meters', { name: 'M', event_name: 'call', ...members });
  const generation = await generationOf(database, meter.id);
  const { type, field, expression, multiplier, group_by: groupBy } = meter.aggregation;
  const aggregation = { type, field, expression, multiplier, groupBy } as MeterAggregation;
  return { environment: api.environment, meterId: meter.id, generation, aggregation };
}

/** A few hundred events of October from a small generator, the same in every run. */
function someEvents(count: number): readonly StoredEvent[] {
  let state = 20261001;
  const next = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const texts = ['0.1', '7', '1e3', '-2', 'none', '12345678901234567890.123456789', '2.50'];
  return [...Array(count).keys()].map(() => {
    const at = Date.UTC(2026, 8, 25) + next(40 * 86_400) * 1_000 + next(1_000);
    const v = texts[next(texts.length + 1)];
    return {
      at: new Date(at).toISOString(),
      source: ['', 'a', 'b'][next(3)] ?? '',
      properties: { region: ['eu', 'us'][next(2)] ?? '', ...(v === undefined ? {} : { v }) },
    };
  });
}

/** Every type, and those whose history counts in a way of its own. */
const METERS = [
  ...AGGREGATION_TYPES.map((type) => [type, 'BILLING_PERIOD'] as const),
  ['WEIGHTED_SUM', 'NEVER'],
  ['COUNT_UNIQUE', 'NEVER'],
] as const;

describe('the edges of one number', () => {
  test('agree on usage, analytics, the bulk query and the invoice', async ({
    api,
    database,
    clickhouse,
  }) => {
    const customer = await api.make('/v1/customers', { external_id: 'acme' });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const countsOn: UsageTarget[] = [];
    for (const [type, resetUsage] of METERS) {
      const aggregation = {
        type,
        ...(type === 'COUNT' ? {} : { field: 'v' }),
        ...(type === 'SUM_WITH_MULTIPLIER' ? { multiplier: '1.5' } : {}),
      };
      const members = { aggregation, reset_usage: resetUsage };
      const target = await makeMeter(api, database.database, members);
      const price = { entity_id: plan.id, currency: 'usd', meter_id: target.meterId };
      await api.make('/v1/prices', { ...price, amount: '0.01' });
      countsOn.push(target);
    }
    const { id } = await api.make('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T10:00:30.123Z',
    });
    const events = someEvents(300).map((event) => ({ ...event, countsOn }));
    await storeEvents({ database, clickhouse }, api.environment, events);
    const range = {
      start_time: '2026-10-01T10:00:30.123Z',
      end_time: '2026-10-31T10:00:30.123Z',
    };
    const invoice = await api.make('/v1/invoices/preview', {
      subscription_id: id,
      period_start: range.start_time,
      period_end: range.end_time,
      group_by: ['source'],
    });
    const analytics = await api.make(`/v1/events/analytics`, {
      ...range,
      external_customer_id: 'acme',
      window_size: 'DAY',
    });
    const bulk = await api.make('/v1/meter-usage/query', {
      ...range,
      meter_ids: countsOn.map(({ meterId }) => meterId),
      external_customer_ids: ['acme'],
    });
    const numbers = new Map<string, unknown[]>();
    for (const line of invoice.line_items) {
      numbers.set(line.meter_id, [line.quantity, line.amount]);
    }
    for (const item of analytics.items) {
      expect(item.points).toHaveLength(31);
      expect(item.sources).toEqual(['', 'a', 'b']);
      expect([item.total_usage, item.subtotal]).toEqual(numbers.get(item.meter_id));
    }
    expect(analytics.subtotal).toBe(invoice.subtotal);
    expect(analytics.items).toHaveLength(METERS.length);
    for (const { meter_id: meterId, total_value: total } of bulk.items) {
      const query = { ...range, meter_id: meterId, external_customer_id: 'acme' };
      const days = await api.make(`${USAGE}/meter`, { ...query, window_size: 'DAY' });
      const [quantity] = numbers.get(meterId) ?? [];
      expect([days.value, total]).toEqual([quantity, quantity]);
    }
  }, 240_000);
});

describe('buckets', () => {
  test('add up their greatest values, one for each group', async ({
    api,
    database,
    clickhouse,
  }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const aggregation = { type: 'MAX', field: 'v', bucket_size: 'HOUR', group_by: 'region' };
    const target = await makeMeter(api, database.database, { aggregation });
    const at = (time: string, v: string, region?: string): StoredEvent => ({
      at: `2026-10-01T${time}.000Z`,
      properties: { v, ...(region === undefined ? {} : { region }) },
    });
    const events = [
      at('00:10:00', '3', 'eu'),
      at('00:50:00', '5', 'eu'),
      at('00:20:00', '4', 'us'),
      at('02:59:59', '2', 'eu'),
      at('03:00:00', '1.5'),
    ];
    await storeEvents(
      { database, clickhouse },
      api.environment,
      events.map((event) => ({ ...event, countsOn: [target] })),
    );
    const query = {
      meter_id: target.meterId,
      external_customer_id: 'acme',
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-10-02T00:00:00Z',
    };
    const whole = await api.make(`${USAGE}/meter`, query);
    expect(whole.value).toBe('12.5');
    expect(whole.results).toMatchObject([
      { group: { 'properties.region': '' }, value: '1.5' },
      { group: { 'properties.region': 'eu' }, value: '7' },
      { group: { 'properties.region': 'us' }, value: '4' },
    ]);
    const cut = { ...query, start_time: '2026-10-01T00:30:00Z', window_size: 'MINUTE' };
    const hours = await api.make(`${USAGE}/meter`, cut);
    expect(hours.value).toBe('8.5');
    expect(hours.results.map((row: { value: string }) => row.value)).toEqual(['5', '2', '1.5']);
    const other = { ...query, bucket_size: 'DAY' };
    await expectRefusals(api, `${USAGE}/meter`, [['other buckets', other, 'bucket_size']]);
  });
});

describe('POST /events/usage', () => {
  const RANGE = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' };

  test('groups by source and properties of any name', async ({ api, database, clickhouse }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const odd = `it's "a\\b"\n{p0:String} $slot$ ß🚀`;
    const at = '2026-10-05T00:00:00.000Z';
    await storeEvents({ database, clickhouse }, api.environment, [
      { at, source: 'x', properties: { [odd]: '1e30', v: `o'k` } },
      { at, source: 'x', properties: { [odd]: '1e-18', v: `o'k` } },
      { at, source: 'y', properties: { v: '🚀' } },
    ]);
    const usage = await api.make(USAGE, {
      ...RANGE,
      event_name: 'call',
      external_customer_id: 'acme',
      aggregation_type: 'SUM',
      property_name: odd,
      group_by: ['source', 'properties.v', `properties.${odd}`],
    });
    const big = `1${'0'.repeat(30)}`;
    expect(usage).toMatchObject({ value: `${big}.000000000000000001`, unreadable_count: 1 });
    const rows = usage.results.map(
      ({ group, value }: { group: Record<string, string>; value: string }) => [
        group['source'],
        group['properties.v'],
        group[`properties.${odd}`],
        value,
      ],
    );
    expect(rows).toEqual([
      ['x', `o'k`, '1e-18', '0.000000000000000001'],
      ['x', `o'k`, '1e30', big],
      ['y', '🚀', '', '0'],
    ]);
  });

  test('counts different texts in each window and group, beside a whole range', async ({
    api,
    database,
    clickhouse,
  }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    await storeEvents({ database, clickhouse }, api.environment, [
      { at: '2026-10-05T01:00:00.000Z', properties: { v: 'a', tag: 'green' } },
      { at: '2026-10-05T02:00:00.000Z', properties: { v: 'b', tag: 'green' } },
      { at: '2026-10-05T07:00:00.000Z', properties: { v: 'a', tag: 'green' } },
      { at: '2026-10-05T07:30:00.000Z', properties: { tag: 'red' } },
    ]);
    const usage = await api.make(USAGE, {
      start_time: '2026-10-05T00:30:00Z',
      end_time: '2026-10-05T12:00:00Z',
      event_name: 'call',
      external_customer_id: 'acme',
      aggregation_type: 'COUNT_UNIQUE',
      property_name: 'v',
      window_size: '6HOUR',
      group_by: ['properties.tag'],
    });
    expect(usage).toMatchObject({ value: '2', unreadable_count: 1 });
    const rows = usage.results.map(
      (row: { group: Record<string, string>; window_start: string; value: string }) => [
        row.group['properties.tag'],
        row.window_start,
        row.value,
      ],
    );
    expect(rows.toSorted()).toEqual([
      ['green', '2026-10-05T00:30:00.000Z', '2'],
      ['green', '2026-10-05T06:00:00.000Z', '1'],
      ['red', '2026-10-05T06:00:00.000Z', '0'],
    ]);
  });

  test('answers ten thousand sources', async ({ api, database, clickhouse }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const events = [...Array(10_000).keys()].map((index) => ({
      at: new Date(Date.UTC(2026, 9, 1, 0, index)).toISOString(),
      source: `s${index}`,
    }));
    await storeEvents({ database, clickhouse }, api.environment, events);
    const query = { ...RANGE, event_name: 'call', aggregation_type: 'COUNT' };
    const named = { ...query, external_customer_id: 'acme', group_by: ['source'] };
    const usage = await api.make(USAGE, named);
    expect([usage.value, usage.results.length]).toEqual(['10000', 10_000]);
  });

  test('refuses what breaks a rule', async ({ api }) => {
    const body = { event_name: 'call', aggregation_type: 'SUM', property_name: 'v' };
    await expectRefusals(api, USAGE, [
      ['no property', { ...body, property_name: undefined }, 'property_name'],
      ['a long property', { ...body, property_name: 'x'.repeat(256) }, 'property_name'],
      ['a blank name', { ...body, event_name: ' ' }, 'event_name'],
      ['an unknown type', { ...body, aggregation_type: 'MEDIAN' }, 'aggregation_type'],
      ['no multiplier', { ...body, aggregation_type: 'SUM_WITH_MULTIPLIER' }, 'multiplier'],
      ['a multiplier of 0', { ...body, multiplier: '0' }, 'multiplier'],
      ['a multiplied COUNT', { ...body, aggregation_type: 'COUNT', multiplier: '2' }, 'multiplier'],
      [
        'buckets of LATEST',
        { ...body, aggregation_type: 'LATEST', bucket_size: 'DAY' },
        'bucket_size',
      ],
      ['a grouping by feature', { ...body, group_by: ['feature_id'] }, 'group_by'],
      ['an unknown zone', { ...body, timezone: 'Mars/Base' }, 'timezone'],
    ]);
  });
});

describe('POST /meter-usage/query', () => {
  test('answers 404 for what it does not know', async ({ api, database }) => {
    const aggregation = { type: 'COUNT' };
    const { meterId } = await makeMeter(api, database.database, { aggregation });
    const statusOf = async (body: object): Promise<number> =>
      (await api.call('POST', '/v1/meter-usage/query', { body })).status;
    expect(await statusOf({ meter_ids: [meterId] })).toBe(200);
    expect(await statusOf({ meter_ids: [meterId, 'meter_x'] })).toBe(404);
    expect(await statusOf({ meter_ids: [meterId], external_customer_ids: ['x'] })).toBe(404);
    expect(await statusOf({ meter_ids: [] })).toBe(400);
  });

  test('gives 100,000 windows in all, and refuses more', async ({ api, database }) => {
    const aggregation = { type: 'COUNT' };
    const meters = await Promise.all(
      Array.from({ length: 4 }, () => makeMeter(api, database.database, { aggregation })),
    );
    const queryMinutes = async (minutes: number) => {
      const startMs = Date.UTC(2026, 0, 1);
      const body = {
        meter_ids: meters.map(({ meterId }) => meterId),
        window_size: 'MINUTE',
        start_time: new Date(startMs).toISOString(),
        end_time: new Date(startMs + minutes * 60_000).toISOString(),
      };
      return api.call('POST', '/v1/meter-usage/query', { body });
    };
    expect((await queryMinutes(25_000)).status).toBe(200);
    const refused = await queryMinutes(25_001);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('window_size');
    expect(JSON.stringify(refused.body)).toContain('100000 points');
  });
});
