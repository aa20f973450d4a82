import { describe, expect, vi } from 'vitest';
import { ClickHouse } from '../../../clickhouse/client.js';
import { test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { makePricedPlan, numbersAt } from '../../testing/priced-plan.js';

const OCTOBER = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' };
const DAY = { period_start: '2026-10-05T00:00:00Z', period_end: '2026-10-06T00:00:00Z' };
const LOAD = { type: 'MAX', field: 'n', bucketSize: 'HOUR' } as const;
const COUNT = { type: 'COUNT' } as const;

const previewOf = (api: BillingUnderTest, id: string, members: object = OCTOBER) =>
  api.make('/v1/invoices/preview', { subscription_id: id, ...members });

/** `n` events at the same instant of October 2026. */
const callsAt = (at: string, n: number) =>
  Array.from({ length: n }, () => ({ at: `2026-10-${at}Z` }));

describe('POST /invoices/preview of bucketed meters', () => {
  test('prices every bucket by itself (8.5)', async ({ api, database, clickhouse }) => {
    const price = {
      tier_mode: 'SLAB',
      tiers: [{ up_to: 4, unit_amount: '1' }, { unit_amount: '0.5' }],
    };
    const plan = await makePricedPlan(api, { database, clickhouse }, { meter: LOAD, price });
    await plan.count(
      numbersAt(
        ['05T00:10:00.000', '3'],
        ['05T01:10:00.000', '5'],
        ['05T01:50:00.000', '4'],
        ['05T03:59:59.999', '2'],
      ),
    );
    const invoice = await previewOf(api, await plan.subscribe(), { ...DAY, explain: true });
    expect(invoice.line_items[0]).toMatchObject({ quantity: '10', amount: '9.50' });
    const { windows, pricing } = invoice.line_items[0].explanation;
    expect(pricing).toBeNull();
    expect(
      windows.items.map((one: Record<string, string>) => [
        one['local_start'],
        one['quantity'],
        one['charge'],
      ]),
    ).toEqual([
      ['2026-10-05T00:00:00+00:00', '3', '3'],
      ['2026-10-05T01:00:00+00:00', '5', '4.5'],
      ['2026-10-05T03:00:00+00:00', '2', '2'],
    ]);
  });

  test('prices every group of a bucket by itself (7.8)', async ({ api, database, clickhouse }) => {
    const meter = { ...LOAD, groupBy: 'host' };
    const price = { amount: '5', transform_quantity: { divide_by: 10 } };
    const plan = await makePricedPlan(api, { database, clickhouse }, { meter, price });
    const at = '2026-10-05T00:10:00.000Z';
    await plan.count([
      { at, properties: { n: '3', host: 'a' } },
      { at, properties: { n: '4', host: 'a' } },
      { at, properties: { n: '11', host: 'b' } },
      { at, properties: { n: '1' } },
    ]);
    const invoice = await previewOf(api, await plan.subscribe(), { ...DAY, explain: true });
    expect(invoice.line_items[0]).toMatchObject({ quantity: '16', amount: '20.00' });
    const { items } = invoice.line_items[0].explanation.windows;
    expect(items.map((one: { group: string; charge: string }) => [one.group, one.charge])).toEqual([
      ['', '5'],
      ['a', '5'],
      ['b', '10'],
    ]);
  });

  test('refuses an interval of more buckets than anyone could read', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = { ...LOAD, bucketSize: 'MINUTE' };
    const terms = { meter, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const start = { start_date: '1990-01-01T00:00:00Z' };
    const period = { period_start: '1990-01-01T00:00:00Z', period_end: '2026-01-01T00:00:00Z' };
    const centuries = {
      price: {
        currency: 'usd',
        meter_id: plan.meterId,
        amount: '1',
        billing_period: 'ANNUAL',
        billing_period_count: 36,
      },
    };
    const last = { ...period, period_start: '2025-12-01T00:00:00Z' };
    for (const [members, preview] of [
      [start, period],
      [{ ...start, line_items: [centuries] }, last],
    ] as const) {
      const body = { subscription_id: await plan.subscribe(members), ...preview };
      const { status, body: error } = await api.call('POST', '/v1/invoices/preview', { body });
      expect([status, error.code]).toEqual([400, 'validation_error']);
      expect(error.message).toContain('527040 buckets');
    }
  });
});

describe('POST /invoices/preview of entitlements', () => {
  const prices = { amount: '0.25' };

  /** Ten a day are free, and 12, 8 and 15 are used on three days (docs/domain.md 10.2). */
  async function useTenADay(
    api: BillingUnderTest,
    plan: Awaited<ReturnType<typeof makePricedPlan>>,
  ): Promise<void> {
    const metered = { name: 'Calls', type: 'metered', meter_id: plan.meterId };
    const feature = await api.make('/v1/features', metered);
    const daily = { usage_limit: 10, usage_reset_period: 'DAILY' };
    await api.make('/v1/entitlements', { feature_id: feature.id, plan_id: plan.planId, ...daily });
    await plan.count([
      ...callsAt('05T10:00:00.000', 12),
      ...callsAt('06T00:00:00.000', 8),
      ...callsAt('07T23:59:59.999', 15),
    ]);
  }

  test('bills what is beyond the allowance of each day (10.2)', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: COUNT, price: prices };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await useTenADay(api, plan);
    const invoice = await previewOf(api, await plan.subscribe(), { ...OCTOBER, explain: true });
    const [line] = invoice.line_items;
    expect(line).toMatchObject({
      quantity: '35',
      adjusted_entitlement_quantity: '28',
      amount: '1.75',
    });
    expect(line.explanation).toMatchObject({ event_count: 35 });
    expect(line.explanation.quantity).toMatchObject({ raw: '35', billed: '7' });
    const { limit, reset_period, windows } = line.explanation.quantity.allowance;
    expect([limit, reset_period, windows.length]).toEqual(['10', 'DAILY', 31]);
    expect(windows[4]).toEqual({
      start: '2026-10-05T00:00:00.000Z',
      end: '2026-10-06T00:00:00.000Z',
      used_before: '0',
      used_until: '12',
      free: '10',
    });
  });

  test('uses the allowance of every day in the bucket of a week, too', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: { ...COUNT, bucketSize: 'WEEK' } as const, price: prices };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await useTenADay(api, plan);
    const invoice = await previewOf(api, await plan.subscribe(), { ...OCTOBER, explain: true });
    const [line] = invoice.line_items;
    expect(line).toMatchObject({ quantity: '35', adjusted_entitlement_quantity: '28' });
    expect(line.amount).toBe('1.75');
    const { items } = line.explanation.windows;
    expect(items).toMatchObject([{ local_start: '2026-10-05T00:00:00+00:00', quantity: '7' }]);
  });

  test('counts what was used before the period in the same year', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: COUNT, price: prices };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const metered = { name: 'Calls', type: 'metered', meter_id: plan.meterId };
    const feature = await api.make('/v1/features', metered);
    const entitled = { feature_id: feature.id, plan_id: plan.planId };
    const annual = { ...entitled, usage_limit: 12, usage_reset_period: 'ANNUAL' };
    const made = await api.make('/v1/entitlements', annual);
    await plan.count([
      { at: '2026-08-31T23:59:59.999Z' },
      ...Array.from({ length: 8 }, () => ({ at: '2026-09-01T00:00:00.000Z' })),
      ...callsAt('05T10:00:00.000', 6),
    ]);
    const id = await plan.subscribe({ start_date: '2026-09-01T00:00:00Z' });
    expect((await previewOf(api, id)).line_items[0]).toMatchObject({
      quantity: '6',
      adjusted_entitlement_quantity: '4',
      amount: '0.50',
    });
    // A limit of the subscription takes the place of its plan's.
    const own = { feature_id: feature.id, entity_id: id, parent_entitlement_id: made.id };
    await api.make('/v1/entitlements', { ...own, usage_reset_period: 'ANNUAL' });
    expect((await previewOf(api, id)).line_items[0]).toMatchObject({
      quantity: '6',
      adjusted_entitlement_quantity: '6',
      amount: '0.00',
    });
  });

  test.for([
    ['COUNT_UNIQUE', { before: '1', until: '2', raw: '1' }],
    ['SUM', { before: '7', until: '15', raw: '8' }],
    ['MAX', { before: '7', until: '7', raw: '4' }],
    ['MIN', { before: '7', until: '4', raw: '4' }],
    ['AVG', { before: '7', until: '5', raw: '4' }],
    ['LATEST', { before: '7', until: '4', raw: '4' }],
  ] as const)(
    'reads a %s of every reset window, and of the one that began before the period',
    async ([type, expected], { api, database, clickhouse }) => {
      const terms = { meter: { type, field: 'n' }, price: { amount: '1' } };
      const plan = await makePricedPlan(api, { database, clickhouse }, terms);
      const metered = { name: 'Calls', type: 'metered', meter_id: plan.meterId };
      const feature = await api.make('/v1/features', metered);
      await api.make('/v1/entitlements', {
        feature_id: feature.id,
        plan_id: plan.planId,
        usage_limit: 1,
        usage_reset_period: 'WEEKLY',
      });
      // Weeks from 1 September: the first one of October is 29 September to 6 October.
      await plan.count([
        { at: '2026-09-30T10:00:00.000Z', properties: { n: '7' } },
        ...numbersAt(['02T10:00:00.000', '4'], ['03T10:00:00.000', '4']),
      ]);
      const id = await plan.subscribe({ start_date: '2026-09-01T00:00:00Z' });
      const invoice = await previewOf(api, id, { ...OCTOBER, explain: true });
      const { allowance, raw } = invoice.line_items[0].explanation.quantity;
      const used = allowance.windows.map((one: { used_until: string }) => one.used_until);
      const [{ used_before: before }] = allowance.windows;
      expect({ before, until: used[0], raw }).toEqual(expected);
      expect(used.slice(1)).toEqual(['0', '0', '0', '0']);
    },
  );

  test.for([
    ['an allowance that never resets', 'BILLING_PERIOD', '2026-10-01T00:00:00.000Z'],
    ['a meter that never resets', 'NEVER', null],
  ] as const)('explains %s: its window has no end', async (row, { api, database, clickhouse }) => {
    const [, reset, start] = row;
    const meter = { type: 'COUNT', resetUsage: reset } as const;
    const plan = await makePricedPlan(
      api,
      { database, clickhouse },
      { meter, price: { amount: '1' } },
    );
    const metered = { name: 'Calls', type: 'metered', meter_id: plan.meterId };
    const feature = await api.make('/v1/features', metered);
    const never = { usage_limit: 2, usage_reset_period: 'NEVER' };
    await api.make('/v1/entitlements', { feature_id: feature.id, plan_id: plan.planId, ...never });
    await plan.count(['02', '03', '04'].map((date) => ({ at: `2026-10-${date}T10:00:00.000Z` })));
    const invoice = await previewOf(api, await plan.subscribe(), { ...OCTOBER, explain: true });
    const { allowance, billed } = invoice.line_items[0].explanation.quantity;
    expect(allowance.windows).toEqual([
      { start, end: null, used_before: '0', used_until: '3', free: '2' },
    ]);
    expect(billed).toBe('1');
  });

  test('uses up an allowance by buckets, with those before the period', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: LOAD, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const metered = { name: 'Load', type: 'metered', meter_id: plan.meterId };
    const feature = await api.make('/v1/features', metered);
    const entitled = { feature_id: feature.id, plan_id: plan.planId };
    const never = { ...entitled, usage_limit: 20, usage_reset_period: 'NEVER' };
    await api.make('/v1/entitlements', never);
    await plan.count([
      { at: '2026-09-10T10:10:00.000Z', properties: { n: '9' } },
      { at: '2026-09-10T10:20:00.000Z', properties: { n: '5' } },
      { at: '2026-09-10T11:20:00.000Z', properties: { n: '5' } },
      ...numbersAt(['05T10:00:00.000', '4'], ['05T12:00:00.000', '10']),
    ]);
    const id = await plan.subscribe({ start_date: '2026-09-01T00:00:00Z' });
    // 9 + 5 of 20 are used in September: 4 and 2 of the 10 are free.
    expect((await previewOf(api, id)).line_items[0]).toMatchObject({
      quantity: '14',
      adjusted_entitlement_quantity: '6',
      amount: '8.00',
    });
  });
});

describe('POST /invoices/preview of commitments', () => {
  test('charges the hours of a time bucket (11.5)', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set('2026-11-02T00:00:00Z');
    const terms = { meter: LOAD, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count(
      numbersAt(['05T10:00:00.000', '3'], ['05T11:30:00.000', '10'], ['05T20:59:59.999', '3']),
    );
    const bucket = {
      start: { hour: 9 },
      end: { hour: 17 },
      commitment_type: 'amount',
      commitment_value: '4',
      overage_factor: 1.5,
      true_up_enabled: true,
      price: { currency: 'usd', amount: '0.80' },
    };
    const commitmentOf = (change: object) => ({
      line_item_commitments: {
        [plan.priceId]: {
          commitment_windowed: true,
          commitment_time_buckets: [{ ...bucket, ...change }],
        },
      },
    });
    const id = await plan.subscribe(commitmentOf({}));
    const invoice = await previewOf(api, id, {
      ...DAY,
      explain: true,
      windows_limit: 3,
      windows_offset: 1,
    });
    const [line] = invoice.line_items;
    expect(line).toMatchObject({ quantity: '16', amount: '41.00' });
    expect(line.commitment_info).toEqual({
      type: null,
      amount: null,
      quantity: null,
      duration: null,
      is_windowed: true,
      overage_factor: null,
      true_up_enabled: null,
      computed_commitment_utilized_amount: '9.40',
      computed_overage_amount: '6.00',
      computed_true_up_amount: '25.60',
    });
    const { windows } = line.explanation;
    expect(windows.pagination).toEqual({ limit: 3, offset: 1, total: 9 });
    expect(windows.items[1]).toMatchObject({
      start: '2026-10-05T11:00:00.000Z',
      local_start: '2026-10-05T11:00:00+00:00',
      quantity: '10',
      usage_amount: '8',
      commitment: '4',
      scale: null,
      utilized: '4',
      overage: '6',
      true_up: '0',
      charge: '10',
    });
    expect(windows.items[0].bucket_id).toMatch(/^bucket_/);
    const without = await plan.subscribe(commitmentOf({ true_up_enabled: false }));
    expect((await previewOf(api, without, DAY)).line_items[0].amount).toBe('15.40');
  });

  test('splits a line by the money of the subscription, and trues up (11.1)', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: { type: 'SUM', field: 'n' } as const, price: { amount: '0.30' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count(numbersAt(['05T10:00:00.000', '500']));
    const commitment = { commitment_amount: '100', overage_factor: '1.5', enable_true_up: true };
    const invoice = await previewOf(api, await plan.subscribe(commitment), {
      ...OCTOBER,
      explain: true,
    });
    expect(invoice.total).toBe('175.00');
    const [covered, beyond] = invoice.line_items;
    expect(covered).toMatchObject({
      quantity: '333.333333333333',
      amount: '100.00',
      metadata: {},
      commitment_info: null,
    });
    expect(beyond).toMatchObject({
      quantity: '166.666666666667',
      amount: '75.00',
      metadata: { is_overage: true, overage_factor: '1.5' },
    });
    expect(beyond.explanation.commitment).toMatchObject({
      level: 'subscription',
      amount: '100',
      overage_base: '50',
      overage: '75',
      split_of: '150',
    });
    const coupon = { name: 'Ten', coupon_code: 'TEN', type: 'percentage', percentage_off: '10' };
    await api.make('/v1/coupons', { ...coupon, cadence: 'forever' });
    const members = { ...commitment, commitment_amount: '250', coupons: ['TEN'] };
    const idle = await plan.subscribe(members);
    const trued = await previewOf(api, idle, { ...OCTOBER, explain: true });
    expect([trued.subtotal, trued.total, trued.warnings]).toEqual([
      '250.00',
      '225.00',
      ['coupons take 25.00 usd off charges of a committed minimum, which holds before discounts'],
    ]);
    expect(trued.line_items[1]).toMatchObject({
      subscription_line_item_id: null,
      price_id: null,
      price_type: 'FIXED',
      display_name: 'Pro True Up',
      quantity: '1',
      amount: '100.00',
      metadata: {
        is_commitment_trueup: true,
        commitment_amount: '250.00',
        commitment_utilized: '150.00',
      },
    });
    expect(trued.line_items[1].explanation).toMatchObject({ meter: null, quantity: null });
  });

  test('shows the commitment of a line in money (11.3)', async ({ api, database, clickhouse }) => {
    const terms = { meter: { type: 'SUM', field: 'n' } as const, price: { amount: '0.02' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.count(numbersAt(['05T10:00:00.000', '15000']));
    const id = await plan.subscribe({
      line_item_commitments: {
        [plan.priceId]: { commitment_quantity: '10000', commitment_overage_factor: '1.5' },
      },
    });
    const [line] = (await previewOf(api, id)).line_items;
    expect(line).toMatchObject({ quantity: '15000', amount: '350.00' });
    expect(line.commitment_info).toEqual({
      type: 'quantity',
      amount: '200',
      quantity: '10000',
      duration: null,
      is_windowed: false,
      overage_factor: '1.5',
      true_up_enabled: false,
      computed_commitment_utilized_amount: '200.00',
      computed_overage_amount: '150.00',
      computed_true_up_amount: '0.00',
    });
  });
});

describe('POST /invoices/preview of many lines', () => {
  test('asks ClickHouse once, however many lines there are', async ({
    api,
    database,
    clickhouse,
  }) => {
    const terms = { meter: LOAD, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const metered = { name: 'Load', type: 'metered', meter_id: plan.meterId };
    const feature = await api.make('/v1/features', metered);
    const entitled = { feature_id: feature.id, plan_id: plan.planId, usage_limit: 3 };
    await api.make('/v1/entitlements', { ...entitled, usage_reset_period: 'ANNUAL' });
    await plan.count(numbersAt(['05T10:00:00.000', '4']));
    const others = await Promise.all(
      ['COUNT', 'SUM', 'COUNT_UNIQUE', 'WEIGHTED_SUM', 'AVG'].map((type) =>
        api.make('/v1/meters', {
          name: type,
          event_name: 'call',
          aggregation: { type, ...(type === 'COUNT' ? {} : { field: 'n' }) },
        }),
      ),
    );
    const lines = others.flatMap(({ id }, index) =>
      [{}, { filter_values: { n: '4' } }].map((members) => ({
        price: { currency: 'usd', meter_id: id, amount: `0.${index + 1}`, ...members },
      })),
    );
    const roundTrips = async (count: number): Promise<number> => {
      const line_items = lines.slice(0, count);
      const id = await plan.subscribe({ start_date: '2026-09-15T00:00:00Z', line_items });
      const { prototype } = ClickHouse;
      const spies = [vi.spyOn(prototype, 'visitRows'), vi.spyOn(prototype, 'query')];
      const invoice = await previewOf(api, id, { ...OCTOBER, group_by: ['source'] });
      expect(invoice.line_items).toHaveLength(count + 1);
      const calls = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
      for (const spy of spies) spy.mockRestore();
      return calls;
    };
    expect(await roundTrips(0)).toBe(1);
    expect(await roundTrips(5)).toBe(1);
    expect(await roundTrips(10)).toBe(1);
  });
});
