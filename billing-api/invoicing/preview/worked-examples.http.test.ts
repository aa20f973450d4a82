import { describe, expect } from 'vitest';
import { test as billingTest } from '../../testing/billing-test.js';
import type { Answer } from '../../testing/money-test.js';
import { advance, test, usage } from '../../testing/peer-case.js';
import { makePricedPlan, numbersAt } from '../../testing/priced-plan.js';

/**
 * The worked examples of docs/domain.md 10.2, 11 and 12 that no other file has, seen through the
 * interface. That of a commitment that changes is in
 * subscription-life/lines/replace-line.http.test.ts.
 */

const JANUARY = { period_start: '2026-01-01T00:00:00Z', period_end: '2026-02-01T00:00:00Z' };
const FEBRUARY = { period_start: '2026-02-01T00:00:00Z', period_end: '2026-03-01T00:00:00Z' };

describe('allowances (10.2)', () => {
  test.for([
    ['NEVER', 100, '90', '30', '20'],
    ['ANNUAL', 1200, '1150', '100', '50'],
    ['MONTHLY', 100, '90', '30', '0'],
  ] as const)(
    '%s, %d: after %s were used, %s more bill %s',
    async ([usage_reset_period, usage_limit, before, now, billed], { api, peer }) => {
      await peer.turn('2026-01-01');
      const calls = await peer.meter('call');
      const plan = await peer.plan(usage(calls, '1'));
      const feature = await api.make('/v1/features', {
        name: 'Calls',
        type: 'metered',
        meter_id: calls.id,
      });
      await api.make('/v1/entitlements', {
        feature_id: feature.id,
        plan_id: plan.id,
        usage_limit,
        usage_reset_period,
      });
      const { id } = await peer.subscribe(plan);
      await calls.use('2026-01-10', before);
      await calls.use('2026-02-10', now);
      const preview = await api.make('/v1/invoices/preview', { subscription_id: id, ...FEBRUARY });
      expect([preview.line_items[0].quantity, preview.total]).toEqual([now, `${billed}.00`]);
    },
  );
});

describe('commitments of a subscription (11.1, 11.2)', () => {
  test.for([
    [
      '100 with true-up, 60 used',
      { commitment_amount: '100', overage_factor: '1.5', enable_true_up: true },
      [['1', '60']],
      ['60.00', '40.00'],
    ],
    [
      '100 with true-up, 100 used',
      { commitment_amount: '100', overage_factor: '1.5', enable_true_up: true },
      [['1', '100']],
      ['100.00'],
    ],
    [
      '10 and factor 2, 3.335 and 8.005 used: the parts of a split line add up',
      { commitment_amount: '10', overage_factor: '2' },
      [
        ['0.667', '5'],
        ['1.601', '5'],
      ],
      ['3.34', '6.66', '2.68'],
    ],
  ] as const)('%s', async ([, commitment, prices, amounts], { api, peer }) => {
    await peer.turn('2026-01-01');
    const meters = [];
    for (const index of prices.keys()) meters.push(await peer.meter(`call ${index}`));
    const plan = await peer.plan(
      ...meters.map((meter, index) => usage(meter, prices[index]?.[0] ?? '0')),
    );
    const { id } = await peer.subscribe(plan, commitment);
    for (const [index, meter] of meters.entries()) {
      await meter.use('2026-01-10', prices[index]?.[1] ?? '0');
    }
    const preview = await api.make('/v1/invoices/preview', { subscription_id: id, ...JANUARY });
    expect(preview.line_items.map((one: Answer) => one.amount)).toEqual(amounts);
  });

  test('1200 a year with factor 1.2: 1150 used before and 100 now are 110.00, and year two starts at 0', async ({
    peer,
  }) => {
    await peer.live('2025-01-01');
    const calls = await peer.meter('call');
    const subscription = await peer.subscribe(await peer.plan(usage(calls, '1')), {
      commitment_amount: '1200',
      overage_factor: '1.2',
      enable_true_up: true,
      commitment_duration: 'ANNUAL',
    });
    const used = { '2025-01-10': '60', '2025-02-10': '1090', '2025-12-10': '100' };
    for (const [at, units] of Object.entries(used)) await calls.use(at, units);
    await calls.use('2026-01-10', '100');
    await peer.live('2026-02-01T02:00:00Z');
    const totals = (await peer.find(subscription)).map((one) => one.total);
    expect(totals).toEqual([
      '60.00',
      '1090.00',
      ...Array<string>(9).fill('0.00'),
      '110.00',
      '100.00',
    ]);
  });
});

describe('commitments of a line (11.3)', () => {
  const amount = (value: string, commitment_true_up_enabled: boolean) => ({
    commitment_type: 'amount',
    commitment_amount: value,
    commitment_true_up_enabled,
    commitment_overage_factor: 1.2,
  });

  test.for([
    ['500, 650 used', true, '650', ['680.00', '500.00', '180.00', '0.00']],
    ['500 with true-up, 300 used', true, '300', ['500.00', '300.00', '0.00', '200.00']],
    ['500 without true-up, 300 used', false, '300', ['300.00', '300.00', '0.00', '0.00']],
    ['500, 500 used', true, '500', ['500.00', '500.00', '0.00', '0.00']],
  ] as const)('%s', async ([, isTrued, used, figures], { api, peer }) => {
    await peer.turn('2026-01-01');
    const calls = await peer.meter('call');
    const plan = await peer.plan(usage(calls, '1'));
    const [price] = (await api.make('/v1/prices/search', { entity_ids: [plan.id] })).items;
    const { id } = await peer.subscribe(plan, {
      line_item_commitments: { [price.id]: amount('500', isTrued) },
    });
    await calls.use('2026-01-10', used);
    const preview = await api.make('/v1/invoices/preview', { subscription_id: id, ...JANUARY });
    const [{ amount: total, commitment_info: info }] = preview.line_items;
    expect([
      total,
      info.computed_commitment_utilized_amount,
      info.computed_overage_amount,
      info.computed_true_up_amount,
    ]).toEqual(figures);
  });
});

describe('commitments of each hour (11.4, 11.5)', () => {
  const HOURLY = { type: 'SUM', field: 'n', bucketSize: 'HOUR' } as const;
  const windowed = {
    commitment_windowed: true,
    commitment_type: 'amount',
    commitment_amount: '10',
    commitment_overage_factor: 2,
  };

  billingTest.for([
    ['hours with 6, 15, none and 10', true, '00:00', '04:00', ['50.00', '26.00', '10.00', '14.00']],
    // No window makes up for another one, and an empty one costs nothing (34.10).
    ['the same hours', false, '00:00', '04:00', ['36.00', '26.00', '10.00', '0.00']],
    [
      'half of an hour with 6, whose commitment is 5',
      true,
      '00:00',
      '00:30',
      ['7.00', '5.00', '2.00', '0.00'],
    ],
  ] as const)(
    '10 with factor 2: %s, with true-up %s',
    async (
      [, commitment_true_up_enabled, from, to, figures],
      { api, database, clickhouse, clock },
    ) => {
      clock.set('2026-11-02T00:00:00Z');
      const terms = { meter: HOURLY, price: { amount: '1' } };
      const plan = await makePricedPlan(api, { database, clickhouse }, terms);
      await plan.count(
        numbersAt(['05T00:10:00.000', '6'], ['05T01:10:00.000', '15'], ['05T03:10:00.000', '10']),
      );
      const id = await plan.subscribe({
        line_item_commitments: { [plan.priceId]: { ...windowed, commitment_true_up_enabled } },
      });
      const preview = await api.make('/v1/invoices/preview', {
        subscription_id: id,
        period_start: `2026-10-05T${from}:00Z`,
        period_end: `2026-10-05T${to}:00Z`,
      });
      const [{ amount, commitment_info: info }] = preview.line_items;
      expect([
        amount,
        info.computed_commitment_utilized_amount,
        info.computed_overage_amount,
        info.computed_true_up_amount,
      ]).toEqual(figures);
    },
  );

  billingTest.for([
    [
      '2026-03-29, where an hour is missing',
      '2026-03-28T23:00:00Z',
      '2026-03-29T22:00:00Z',
      '20.00',
    ],
    [
      '2026-10-25, where an hour is there twice',
      '2026-10-24T22:00:00Z',
      '2026-10-25T23:00:00Z',
      '28.00',
    ],
    ['an ordinary day', '2026-06-09T22:00:00Z', '2026-06-10T22:00:00Z', '24.00'],
  ] as const)(
    '00:00 to 06:00 in Berlin with 4 and true-up, without usage: %s',
    async ([, period_start, period_end, amount], { api, database, clickhouse, clock }) => {
      clock.set('2026-11-02T00:00:00Z');
      const terms = { meter: HOURLY, price: { amount: '1' } };
      const plan = await makePricedPlan(api, { database, clickhouse }, terms);
      const id = await plan.subscribe({
        start_date: '2026-01-01T00:00:00Z',
        customer_timezone: 'Europe/Berlin',
        line_item_commitments: {
          [plan.priceId]: {
            commitment_windowed: true,
            commitment_time_buckets: [
              {
                start: { hour: 0 },
                end: { hour: 6 },
                commitment_type: 'amount',
                commitment_value: '4',
                overage_factor: 1,
                true_up_enabled: true,
                price: { currency: 'usd', amount: '1' },
              },
            ],
          },
        },
      });
      const preview = await api.make('/v1/invoices/preview', {
        subscription_id: id,
        period_start,
        period_end,
      });
      expect(preview.line_items[0].amount).toBe(amount);
    },
  );
});

describe('periods (12)', () => {
  test.for([
    [
      'MONTHLY',
      '2026-01-31',
      '2026-06-01',
      ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'],
    ],
    ['QUARTERLY', '2025-11-30', '2026-08-31', ['2026-02-28', '2026-05-30', '2026-08-30']],
    [
      'ANNUAL',
      '2024-02-29',
      '2028-03-01',
      ['2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'],
    ],
  ] as const)('%s from %s (12.3)', async ([billing_period, start, until, ends], { peer }) => {
    await peer.live(start);
    const price = advance('10', { billing_period, invoice_cadence: 'ARREAR' });
    const subscription = await peer.subscribe(await peer.plan(price), { billing_period });
    await peer.live(until);
    const invoices = await peer.find(subscription);
    expect(invoices.map((one) => one.period_end)).toEqual(
      ends.map((end) => `${end}T00:00:00.000Z`),
    );
  });

  test.for([
    [{ billing_period: 'ANNUAL' }, '2025-01-10', '2025-06-15', '2025-06-15T00:00:00.000Z'],
    [{ billing_period_count: 3 }, '2025-01-10', '2025-02-15', '2025-02-15T00:00:00.000Z'],
  ] as const)('%o from %s with the anchor %s (12.4)', async (row, { peer }) => {
    const [members, start, anchor, end] = row;
    await peer.turn(start);
    const subscription = await peer.subscribe(await peer.plan(advance('10', members)), {
      ...members,
      billing_anchor: `${anchor}T00:00:00Z`,
    });
    expect(subscription.current_period_end).toBe(end);
  });

  test('keep the time of day of Berlin, where it does not exist an hour later, and of two the first (12.5)', async ({
    peer,
  }) => {
    const at = '2026-01-29T01:30:00Z';
    await peer.live(at);
    const plan = await peer.plan(advance('10', { invoice_cadence: 'ARREAR' }));
    const subscription = await peer.subscribe(plan, { customer_timezone: 'Europe/Berlin' });
    await peer.live('2026-04-01');
    const ends = (await peer.find(subscription)).map((one) => one.period_end);
    expect(ends).toEqual(['2026-02-28T01:30:00.000Z', '2026-03-29T01:30:00.000Z']);
    await peer.turn('2026-09-25T00:30:00Z');
    const autumn = await peer.subscribe(plan, { customer_timezone: 'Europe/Berlin' });
    expect(autumn.current_period_end).toBe('2026-10-25T00:30:00.000Z');
  });
});
