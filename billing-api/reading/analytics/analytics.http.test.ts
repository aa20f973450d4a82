import { describe, expect } from 'vitest';
import { test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { makePricedPlan, numbersAt } from '../../testing/priced-plan.js';

const OCTOBER = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' };
const SUM = { type: 'SUM', field: 'n' } as const;
const AT_PRICE = ['allowances', 'commitments', 'coupons', 'credits', 'taxes'];

const analyse = (api: BillingUnderTest, members: object = {}) =>
  api.make('/v1/events/analytics', { external_customer_id: 'acme', ...OCTOBER, ...members });

const previewOf = (api: BillingUnderTest, id: string) =>
  api.make('/v1/invoices/preview', {
    subscription_id: id,
    period_start: OCTOBER.start_time,
    period_end: OCTOBER.end_time,
  });

describe('POST /events/analytics', () => {
  test('charges a whole period as its invoice does, with commitments and discounts', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: SUM, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count(numbersAt(['05T10:00:00.000', '300'], ['20T10:00:00.000', '350']));
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'forever',
    });
    const commitment = { commitment_amount: '500', commitment_overage_factor: '1.2' };
    const id = await plan.subscribe({
      line_item_commitments: { [plan.priceId]: commitment },
      coupons: ['TEN'],
    });
    const [line] = (await previewOf(api, id)).line_items;
    const analytics = await analyse(api);
    const money = { subtotal: '680.00', total_discount: '68.00', total_cost: '612.00' };
    expect(analytics).toMatchObject({ ...money, costs_exclude: ['credits', 'taxes'] });
    expect(analytics.items).toMatchObject([
      { ...money, total_usage: '650', commitment_info: line.commitment_info },
    ]);
    expect([line.amount, line.invoice_level_discount]).toEqual(['680.00', '68.00']);
    expect(line.commitment_info.computed_overage_amount).toBe('180.00');
  });

  test('names what it leaves out where no invoice charges exactly what is analysed', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: SUM, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count(numbersAt(['05T10:00:00.000', '650']));
    const commitment = { commitment_amount: '500', commitment_overage_factor: '1.2' };
    await plan.subscribe({ line_item_commitments: { [plan.priceId]: commitment } });
    const others = [
      { end_time: '2026-10-20T00:00:00Z' },
      { start_time: '2026-10-02T00:00:00Z' },
      { group_by: ['source'] },
    ];
    for (const members of others) {
      const analytics = await analyse(api, members);
      expect(analytics).toMatchObject({ total_cost: '650.00', costs_exclude: AT_PRICE });
      expect(analytics.items).toMatchObject([{ commitment_info: null, bucket_summaries: null }]);
    }
    const narrowed = await analyse(api, { sources: ['none'] });
    expect(narrowed).toMatchObject({ total_cost: null, costs_exclude: AT_PRICE });
    expect(await analyse(api)).toMatchObject({ total_cost: '680.00' });
  });

  test('names the true-up of a subscription, which no line has', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: SUM, price: { amount: '0.30' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count(numbersAt(['05T10:00:00.000', '500']));
    const id = await plan.subscribe({
      commitment_amount: '250',
      overage_factor: '1.5',
      enable_true_up: true,
    });
    expect((await previewOf(api, id)).total).toBe('250.00');
    expect(await analyse(api)).toMatchObject({
      total_cost: '150.00',
      costs_exclude: ['credits', 'subscription_true_ups', 'taxes'],
    });
  });

  test('charges a year of whole periods, each by its own commitment', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: SUM, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count([
      { at: '2026-08-05T10:00:00.000Z', properties: { n: '650' } },
      { at: '2026-09-05T10:00:00.000Z', properties: { n: '100' } },
    ]);
    const commitment = {
      commitment_amount: '500',
      commitment_overage_factor: '1.2',
      commitment_true_up_enabled: true,
    };
    await plan.subscribe({
      start_date: '2026-08-01T00:00:00Z',
      line_item_commitments: { [plan.priceId]: commitment },
    });
    const range = { start_time: '2026-07-01T00:00:00Z', end_time: '2026-10-01T00:00:00Z' };
    const [item] = (await analyse(api, range)).items;
    expect(item).toMatchObject({
      total_cost: '1180.00',
      commitment_info: {
        amount: '500',
        computed_commitment_utilized_amount: '600.00',
        computed_overage_amount: '180.00',
        computed_true_up_amount: '400.00',
      },
    });
  });

  test('tells what the windows of a point and each time bucket charge', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = { type: 'MAX', field: 'n', bucketSize: 'HOUR' } as const;
    const terms = { meter, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count(
      numbersAt(
        ['05T10:10:00.000', '3'],
        ['05T11:10:00.000', '10'],
        ['05T20:10:00.000', '3'],
        ['06T12:10:00.000', '1'],
      ),
    );
    const bucket = {
      start: { hour: 9 },
      end: { hour: 17 },
      commitment_type: 'amount',
      commitment_value: '4',
      overage_factor: 1.5,
      price: { currency: 'usd', amount: '0.80' },
    };
    await plan.subscribe({
      line_item_commitments: {
        [plan.priceId]: { commitment_windowed: true, commitment_time_buckets: [bucket] },
      },
    });
    const asked = { window_size: 'DAY', breakdown_bucket: true };
    const [item] = (await analyse(api, asked)).items;
    expect(item).toMatchObject({ total_cost: '16.20', total_usage: '17' });
    const fifth = {
      total_usage: '13',
      base_charge: '10.4',
      computed_utilized: '6.4',
      computed_overage: '6',
      computed_true_up: '0',
    };
    expect(item.bucket_summaries).toEqual([
      {
        ...fifth,
        total_usage: '14',
        base_charge: '11.2',
        computed_utilized: '7.2',
        bucket_id: expect.any(String),
        subscription_line_item_id: item.sub_line_item_id,
        price_id: expect.any(String),
        commitment_type: 'amount',
        commitment_value: '4',
        start: { hour: 9, minute: 0 },
        end: { hour: 17, minute: 0 },
      },
    ]);
    const used = item.points.filter((one: { usage: string }) => one.usage !== '0');
    expect(used).toMatchObject([
      {
        timestamp: '2026-10-05T00:00:00.000Z',
        usage: '16',
        subtotal: '15.4',
        computed_commitment_utilized_amount: '9.4',
        computed_overage_amount: '6',
        computed_true_up_amount: '0',
        buckets: [fifth],
      },
      { timestamp: '2026-10-06T00:00:00.000Z', subtotal: '0.8', computed_overage_amount: '0' },
    ]);
    const refused = await api.call('POST', '/v1/events/analytics', {
      body: { external_customer_id: 'acme', breakdown_bucket: true },
    });
    expect([refused.status, Object.keys(refused.body.details)]).toEqual([
      400,
      ['breakdown_bucket'],
    ]);
  });
});
