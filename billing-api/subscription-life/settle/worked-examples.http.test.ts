import { describe, expect } from 'vitest';
import { createId } from '../../../runtime/ids.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import { THRESHOLD_JOBS } from '../../jobs/page-jobs.js';
import { writeUnit } from '../../records/unit.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { billingNeeds, billingRunner } from '../../testing/bill-environment.js';
import type { Answer } from '../../testing/money-test.js';
import {
  advance,
  instant,
  test as peerTest,
  usage,
  type PeerCase,
} from '../../testing/peer-case.js';
import { payOpen } from '../../testing/pay-open.js';

/** `test` that can look for thresholds which are reached. */
const test = peerTest.extend<{ look: () => Promise<void> }>({
  look: async ({ api, database, clickhouse }, use) => {
    const { environment } = api;
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    const [job] = THRESHOLD_JOBS;
    await use(async () => {
      const needs = { ...billingNeeds(engines), createId };
      const actor = { kind: 'operator', name: 'test' } as const;
      await writeUnit(needs, { environment, actor }, (unit) => enqueue(unit, job, { input: {} }));
      await billingRunner(engines, [job]).runDue(Date.now());
    });
  },
});

const PRORATED = { proration_behavior: 'create_prorations' };

/** What a cancellation credits: the price, the terms, the instant, the credit and its days. */
type Cancelled = readonly [
  ...[name: string, price: object, terms: object, start: string, at: string],
  ...[credit: string, days: number],
];

const MONTH = advance('100');
const JANUARY = '2026-01-01';
const BERLIN = { customer_timezone: 'Europe/Berlin' };

const CANCELLED: readonly Cancelled[] = [
  ['half of January (23.5)', MONTH, {}, JANUARY, '2026-01-16', '51.61', 16],
  ['half of January at noon (23.5)', MONTH, {}, JANUARY, '2026-01-16T12:00:00.000Z', '50.00', 16],
  [
    ...(['March with a clock change (23.6)', advance('100000'), BERLIN] as const),
    ...(['2026-02-28T23:00:00.000Z', '2026-03-15T23:00:00.000Z', '51547.78', 16] as const),
  ],
  [
    ...(['a year of a monthly subscription (23.7)'] as const),
    ...([advance('1200', { billing_period: 'ANNUAL' }), {}, JANUARY, '2026-01-16'] as const),
    ...(['1150.68', 350] as const),
  ],
  [
    ...(['a short first period (23.7)', MONTH] as const),
    ...([{ billing_anchor: instant('2026-09-01'), ...PRORATED }, '2026-08-15'] as const),
    ...(['2026-08-24', '25.81', 8] as const),
  ],
  [
    ...(['with a coupon of 50 % (23.7)', MONTH, { coupons: ['HALF'] }, JANUARY] as const),
    ...(['2026-01-16', '25.81', 16] as const),
  ],
  [
    ...(['with it at the start of the period (23.7)', MONTH, { coupons: ['HALF'] }] as const),
    ...([JANUARY, JANUARY, '50.00', 31] as const),
  ],
];

describe('what a cancellation credits', () => {
  test.for(CANCELLED)('%s', async ([, price, terms, start, at, credit, days], { api, peer }) => {
    await peer.live(start);
    await api.make('/v1/coupons', {
      name: 'Half',
      coupon_code: 'HALF',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const subscription = await peer.subscribe(await peer.plan(price), terms);
    await peer.live(at);
    const cancelled = await peer.post(subscription, 'cancel', PRORATED);
    expect(cancelled).toMatchObject({
      total_credit_amount: credit,
      proration_details: [{ proration_days: days }],
    });
  });

  test('after a pause of ten days (23.7)', async ({ peer }) => {
    await peer.live(JANUARY);
    const subscription = await peer.subscribe(await peer.plan(MONTH));
    await peer.live('2026-01-05');
    await peer.post(subscription, 'pause', { pause_mode: 'immediate', pause_days: 10 });
    await peer.live('2026-01-26');
    const cancelled = await peer.post(subscription, 'cancel', PRORATED);
    expect(cancelled.total_credit_amount).toBe('51.61');
  });

  test('after a threshold invoice (23.7)', async ({ look, peer }) => {
    await peer.live(JANUARY);
    const meter = await peer.meter('call');
    const subscription = await peer.subscribe(await peer.plan(MONTH, usage(meter, '1')), {
      auto_invoice_threshold: '50',
    });
    await meter.use('2026-01-19', 60);
    await peer.live('2026-01-20');
    await look();
    expect((await peer.read(subscription)).current_period_start).toBe(instant('2026-01-20'));
    await peer.live('2026-01-26');
    const cancelled = await peer.post(subscription, 'cancel', PRORATED);
    expect(cancelled.total_credit_amount).toBe('19.35');
  });
});

describe('a first period of 17 of 31 days (13.4, 22.2)', () => {
  test('costs 54.84 of 100.00, and has 548 of 1000 units', async ({ api, peer }) => {
    await peer.live('2026-08-15');
    const meter = await peer.meter('call');
    const plan = await peer.plan(MONTH, usage(meter, '1'));
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: meter.id,
    });
    await api.make('/v1/entitlements', {
      plan_id: plan.id,
      feature_id: feature.id,
      usage_limit: 1000,
      usage_reset_period: 'MONTHLY',
    });
    const subscription = await peer.subscribe(plan, { billing_cycle: 'calendar', ...PRORATED });
    expect(await peer.invoices(subscription)).toEqual([
      '2026-08-15 2026-09-01 SUBSCRIPTION_CREATE 54.84',
    ]);
    await meter.use('2026-08-20', 600);
    await meter.use('2026-09-20', 600);
    await peer.live('2026-10-01T02:00:00Z');
    const units = (await peer.find(subscription)).flatMap((one: Answer) =>
      one.line_items
        .filter((line: Answer) => line.meter_id !== null)
        .map((line: Answer) => line.amount),
    );
    // 600 less 548, and nothing beyond 1000.
    expect(units).toEqual(['52.00', '0.00']);
  });
});

/** A plan of 1.00 a unit beyond 310 of them a month. */
async function makeAllowed({ api, peer }: { api: BillingUnderTest; peer: PeerCase }) {
  const meter = await peer.meter('call');
  const feature = await api.make('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter_id: meter.id,
  });
  const makePlan = async () => {
    const plan = await peer.plan(usage(meter, '1'));
    const members = { plan_id: plan.id, feature_id: feature.id, usage_limit: 310 };
    await api.make('/v1/entitlements', members);
    return plan;
  };
  return { meter, makePlan };
}

describe('a pause in the first period leaves its own allowance (22.2, 25.3)', () => {
  test.for([
    // 400 less 310 × 16 ÷ 31.
    ['a short one', 'calendar', null, 400, '160', '240.00'],
    // 700 less 200 that are left and 310 × 16 ÷ 31 of them.
    ['one after a change of plan', 'calendar', 110, 700, '360', '340.00'],
    ['a whole one after a change of plan', 'anniversary', 110, 700, '510', '190.00'],
  ] as const)('%s, %s', async ([, cycle, before, used, limit, total], { api, peer }) => {
    await peer.live(before === null ? '2026-01-16' : JANUARY);
    const { meter, makePlan } = await makeAllowed({ api, peer });
    const terms = { billing_cycle: cycle, ...PRORATED };
    let subscription = await peer.subscribe(await makePlan(), terms);
    if (before !== null) {
      await meter.use('2026-01-05', before);
      await peer.live('2026-01-16');
      const changed = await peer.change(subscription, await makePlan(), terms);
      subscription = changed.new_subscription;
    }
    await peer.live('2026-01-21');
    await peer.post(subscription, 'pause', { pause_mode: 'immediate', pause_days: 3 });
    await meter.use('2026-01-22', used);
    await peer.live('2026-01-25');
    const body = { subscription_id: subscription.id, explain: true };
    const { line_items: lines } = await api.make('/v1/invoices/preview', body);
    expect(lines[0].explanation.quantity.allowance.limit).toBe(limit);
    await peer.live('2026-02-20T03:00:00Z');
    const [closing] = await peer.find(subscription);
    expect(closing.total).toBe(total);
  });
});

describe('a price that fell in a period which a pause had made longer', () => {
  test('leaves the unused part of the next period whole', async ({ api, peer }) => {
    await peer.turn(JANUARY);
    const subscription = await peer.subscribe(await peer.plan(advance('310')));
    await payOpen(api);
    await peer.live('2026-01-11');
    await peer.post(subscription, 'pause', { pause_mode: 'immediate', pause_days: 5 });
    await peer.live('2026-01-20');
    const [line] = (await peer.read(subscription)).line_items;
    const path = `/v1/subscriptions/lineitems/${line.id}`;
    expect((await api.call('PUT', path, { body: { amount: '28' } })).status).toBe(200);
    // (310 − 28) × 17 ÷ 31 days until 6 Feb.
    expect(await peer.credits()).toEqual(['154.65']);
    await peer.live('2026-02-07');
    await payOpen(api);
    const cancelled = { cancellation_type: 'immediate', ...PRORATED };
    const { total_credit_amount: credit } = await peer.post(subscription, 'cancel', cancelled);
    // 28 × 27 ÷ 28 days until 6 Mar.
    expect(credit).toBe('27.00');
  });
});
