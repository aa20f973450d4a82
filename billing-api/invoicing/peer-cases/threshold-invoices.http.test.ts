import { describe, expect } from 'vitest';
import { THRESHOLD_JOBS } from '../../jobs/page-jobs.js';
import { advance, test as peerTest, usage } from '../../testing/peer-case.js';
import { runOneJob } from '../../testing/run-one-job.js';
import { payOpen } from '../../testing/pay-open.js';

/**
 * Worked cases of other billing systems about usage that is invoiced inside its period, and that
 * arrives late, by the ids under which they were collected. Where ours differ, docs/domain.md 34.32
 * says which and why.
 */

/** `live`, and the invoices of thresholds that are reached then. */
const test = peerTest.extend<{ look: (instant: string) => Promise<void> }>({
  look: async ({ api, peer, database, clickhouse }, use) => {
    const engines = { database: database.database, clickHouse: clickhouse.client };
    await use(async (instant) => {
      await peer.live(instant);
      await runOneJob({ ...engines, environment: api.environment }, THRESHOLD_JOBS);
    });
  },
});

const DECEMBER = '2026-12-01';
/** Each a day: looked at in its evening, before the next one. */
const dayOf = (index: number, hour = '00'): string =>
  `2026-12-${String(index + 2).padStart(2, '0')}T${hour}:00:00Z`;
const THRESHOLD = 'AUTO_INVOICE_THRESHOLD';

const tiered = (mode: 'SLAB' | 'VOLUME', tiers: readonly (readonly [number | null, string])[]) => ({
  billing_model: 'TIERED',
  tier_mode: mode,
  tiers: tiers.map(([up_to, unit_amount]) => ({ up_to, unit_amount })),
});
/** The tiers of the case OR-01: 107.00 for 150,000 units. */
const CALLS = tiered('SLAB', [
  [10_000, '0.001'],
  [100_000, '0.0008'],
  [null, '0.0005'],
]);
const ONE_TWO_THREE = tiered('SLAB', [
  [5, '1'],
  [10, '2'],
  [null, '3'],
]);
const FALLING = tiered('VOLUME', [
  [15, '10'],
  [null, '5'],
]);

type Split = {
  readonly price: object;
  readonly threshold: string;
  readonly currency?: string;
  /** Units of each day. */
  readonly days: readonly string[];
  /** Units that arrive after the last day and belong to the first one. */
  readonly late?: string;
  /** What is invoiced at once, and when the period has ended. */
  readonly invoices: readonly string[];
  readonly closing: string;
  readonly credits?: readonly string[];
};

const SPLITS: Readonly<Record<string, Split>> = {
  'OR-04: a threshold invoice is a prefix of the invoice of the period': {
    price: CALLS,
    threshold: '50',
    days: ['60000', '90000'],
    invoices: ['50.00', '57.00'],
    closing: '0.00',
  },
  'OR-04: the same with a higher threshold: 107.00 in all': {
    price: CALLS,
    threshold: '50.01',
    days: ['60000', '40000', '50000'],
    invoices: ['82.00'],
    closing: '25.00',
  },
  'FP-28: tiers do not begin anew after a threshold invoice: 107.00 and not 124.00': {
    price: CALLS,
    threshold: '50',
    days: ['60000'],
    late: '90000',
    invoices: ['50.00'],
    closing: '57.00',
  },
  'FP-25: an event that arrives late is on the next invoice': {
    price: { amount: '0.01' },
    threshold: '10',
    days: ['1001', '500'],
    late: '100',
    invoices: ['10.01'],
    closing: '6.00',
  },
  'OM-09: a price that the event carries, times 1.33333, up to 100': {
    price: tiered('SLAB', [
      [75, '1.33333'],
      [null, '0'],
    ]),
    // 93.33 of the first 70, and 6.67 up to the cap of the 50 that follow.
    threshold: '90',
    days: ['70', '50'],
    invoices: ['93.33'],
    closing: '6.67',
  },
  'OM-09: below the cap': {
    price: { amount: '1.33333' },
    threshold: '1000',
    days: ['10'],
    invoices: [],
    closing: '13.33',
  },
  'OM-10: a late event moves a volume price to the next tier, and the difference is given back': {
    price: FALLING,
    threshold: '100',
    days: ['15'],
    late: '1',
    // 16 x 5 = 80 less the 150 that were charged.
    invoices: ['150.00'],
    closing: '0.00',
    credits: ['70'],
  },
  'OM-10: a later run with the same usage charges nothing': {
    price: FALLING,
    threshold: '100',
    days: ['15', '0'],
    invoices: ['150.00'],
    closing: '0.00',
  },
  'OM-11: from 3 to 5': {
    price: ONE_TWO_THREE,
    threshold: '3',
    days: ['3'],
    late: '2',
    invoices: ['3.00'],
    closing: '2.00',
  },
  'OM-11: from 3 to 7': {
    price: ONE_TWO_THREE,
    threshold: '3',
    days: ['3'],
    late: '4',
    invoices: ['3.00'],
    closing: '6.00',
  },
  'OM-11: from 3 to 12': {
    price: ONE_TWO_THREE,
    threshold: '3',
    days: ['3'],
    late: '9',
    invoices: ['3.00'],
    closing: '18.00',
  },
  'OM-11: the same in yen': {
    price: ONE_TWO_THREE,
    threshold: '3',
    currency: 'jpy',
    days: ['3'],
    late: '9',
    invoices: ['3'],
    closing: '18',
  },
};

describe('usage that is invoiced inside its period', () => {
  test.for(Object.entries(SPLITS))('%s', async ([, split], { api, peer, look }) => {
    const { currency = 'usd' } = split;
    await peer.live(DECEMBER);
    const calls = await peer.meter('call');
    const price = { currency, meter_id: calls.id, ...split.price };
    const subscription = await peer.subscribe(await peer.plan(price), {
      currency,
      auto_invoice_threshold: split.threshold,
    });
    for (const [index, units] of split.days.entries()) {
      await calls.use(dayOf(index), units);
      await look(dayOf(index, '20'));
      await look(dayOf(index, '21'));
    }
    if (split.late !== undefined) await calls.use('2026-12-01T12:00:00Z', split.late);
    await peer.live('2027-01-01T03:00:00Z');
    const invoices = await peer.find(subscription);
    const totals = invoices.map(({ billing_reason: reason, total }) => [reason, total]);
    expect(totals).toEqual([
      ...split.invoices.map((total) => [THRESHOLD, total]),
      ['SUBSCRIPTION_CYCLE', split.closing],
    ]);
    expect(await peer.credits()).toEqual(split.credits ?? []);
    const after = await api.make('/v1/invoices/search', { subscription_id: subscription.id });
    expect(after.items).toHaveLength(invoices.length);
  });

  test('LG-19: a list of thresholds is one that is set anew after each invoice (34.32)', async ({
    api,
    peer,
    look,
  }) => {
    await peer.live(DECEMBER);
    const calls = await peer.meter('call');
    const fee = advance('31', { invoice_cadence: 'ARREAR' });
    const subscription = await peer.subscribe(await peer.plan(usage(calls, '1'), fee), {
      auto_invoice_threshold: '2',
    });
    const setThreshold = (auto_invoice_threshold: string) =>
      api.call('PUT', `/v1/subscriptions/${subscription.id}`, { body: { auto_invoice_threshold } });
    const thresholds = async () => {
      const totals = (await peer.invoices(subscription)).filter((one) => one.includes(THRESHOLD));
      return totals.map((one) => one.split(' ')[3]);
    };
    // 2, 5, 7 and then every 10 of all that was used: what is left up to the next of them.
    const days: readonly (readonly [units: string, next: string, invoices: readonly string[]])[] = [
      ['2.20', '2.80', ['2.20']],
      ['2.20', '2.80', ['2.20']],
      ['2.20', '0.40', ['2.20', '4.40']],
      ['2.20', '8.20', ['2.20', '4.40', '2.20']],
      ['22.00', '6.20', ['2.20', '4.40', '2.20', '22.00']],
      ['22.00', '4.20', ['2.20', '4.40', '2.20', '22.00', '22.00']],
    ];
    for (const [index, [units, next, invoices]] of days.entries()) {
      await calls.use(dayOf(index), units);
      await look(dayOf(index, '20'));
      expect(await thresholds()).toEqual(invoices);
      await setThreshold(next);
    }
    await peer.live('2027-01-01T03:00:00Z');
    expect((await peer.invoices(subscription)).at(-1)).toMatch(/ SUBSCRIPTION_CYCLE 31.00$/);
    await calls.use('2027-01-02T00:00:00Z', '22');
    await look('2027-01-02T20:00:00Z');
    expect((await thresholds()).at(-1)).toBe('22.00');
  });

  test.for([
    ['18 December 00:00: 17 of 31 days', '2026-12-18', '17.00'],
    ['19 December 00:00: 18 of 31 days', '2026-12-19', '18.00'],
  ] as const)(
    'LG-17: ended after a threshold invoice, on %s, to the instant (34.32)',
    async ([, end, total], { peer, look }) => {
      await peer.live(DECEMBER);
      const calls = await peer.meter('call');
      const fee = advance('31', { invoice_cadence: 'ARREAR' });
      const subscription = await peer.subscribe(await peer.plan(usage(calls, '1'), fee), {
        auto_invoice_threshold: '200',
      });
      await calls.use('2026-12-16T00:00:00Z', '200');
      await look('2026-12-16T12:00:00Z');
      await peer.live(end);
      await peer.post(subscription, 'cancel', { cancellation_type: 'immediate' });
      expect((await peer.find(subscription)).map((one) => one.total)).toEqual(['200.00', total]);
    },
  );
});

describe('free units', () => {
  test('OD-01: 500 free units over three invoices of one period', async ({ api, peer, look }) => {
    await peer.live(DECEMBER);
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
      usage_limit: 500,
    });
    const subscription = await peer.subscribe(plan, { auto_invoice_threshold: '40' });
    const freeLeft = async () => {
      const { body } = await api.call('GET', `/v1/subscriptions/${subscription.id}/entitlements`);
      return body;
    };
    expect(await freeLeft()).toBeDefined();
    for (const [index, [units, invoices]] of [
      ['300', []],
      ['250', ['50.00']],
      ['100', ['50.00', '100.00']],
    ].entries()) {
      await calls.use(dayOf(index), units as string);
      await look(dayOf(index, '20'));
      expect((await peer.find(subscription)).map((one) => one.total)).toEqual(invoices);
    }
  });

  test.for([
    ['of a year over three months', 'ANNUAL', ['0.00', '50.00', '100.00']],
    ['that never renew', 'NEVER', ['0.00', '50.00', '100.00']],
    ['of each month', 'MONTHLY', ['0.00', '0.00', '0.00']],
  ] as const)('OD-01: 500 free units %s', async ([, period, billed], { api, peer }) => {
    await peer.live('2026-01-01');
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
      usage_limit: 500,
      usage_reset_period: period,
    });
    const subscription = await peer.subscribe(plan);
    await calls.use('2026-01-10', '300');
    await calls.use('2026-02-10', '250');
    await calls.use('2026-03-10', '100');
    const totals: string[] = [];
    for (const month of [1, 2, 3]) {
      const preview = await api.make('/v1/invoices/preview', {
        subscription_id: subscription.id,
        period_start: `2026-0${month}-01T00:00:00Z`,
        period_end: `2026-0${month + 1}-01T00:00:00Z`,
      });
      totals.push(preview.total);
    }
    expect(totals).toEqual(billed);
  });
});

test.for([
  ['25 February 00:00', '2023-02-25', '8.57', '3.43'],
  ['26 February 00:00', '2023-02-26', '6.43', '5.57'],
] as const)(
  'LG-13: a minimum of one price is a commitment of its line, charged in full when it ends on %s (34.32)',
  async ([, end, credit, total], { api, peer }) => {
    const tax = { name: 'VAT', code: 'vat', tax_rate_type: 'percentage', percentage_value: '20' };
    await api.make('/v1/taxes/rates', tax);
    await peer.live('2023-01-08');
    const calls = await peer.meter('call');
    const plan = await peer.plan(advance('50'), usage(calls, '8'));
    const { items } = await api.make('/v1/prices/search', { entity_ids: [plan.id] });
    const metered = items.find((one: { meter_id: string | null }) => one.meter_id !== null);
    const subscription = await peer.subscribe(plan, {
      billing_cycle: 'calendar',
      proration_behavior: 'create_prorations',
      tax_rate_overrides: [{ tax_rate_code: 'vat', currency: 'usd' }],
      line_item_commitments: {
        [metered.id]: {
          commitment_type: 'amount',
          commitment_amount: '10',
          commitment_overage_factor: 1,
          commitment_true_up_enabled: true,
        },
      },
    });
    const [opening] = await peer.find(subscription);
    // 50.00 x 24 / 31 = 38.71, and 7.74 of tax.
    expect([opening.subtotal, opening.total_tax, opening.total]).toEqual([
      '38.71',
      '7.74',
      '46.45',
    ]);
    await peer.live('2023-02-01T03:00:00Z');
    await calls.use('2023-02-10', '1');
    await payOpen(api);
    await peer.live(end);
    const cancelled = await peer.post(subscription, 'cancel', {
      cancellation_type: 'immediate',
      proration_behavior: 'create_prorations',
    });
    // 8.00 of usage, and 2.00 that are missing to the whole minimum; the others charge 0.93.
    const final = (await peer.find(subscription)).at(-1);
    // 12.00 with its tax, less what is unused of the fee: 7.14 or 5.36, with its tax.
    expect([final.subtotal, final.total_tax, final.total]).toEqual(['10.00', '2.00', total]);
    expect(cancelled.total_credit_amount).toBe(credit);
    expect(await peer.credits()).toEqual(['0']);
  },
);
