import { describe, expect } from 'vitest';
import type { Answer } from '../../testing/money-test.js';
import { advance, arrear, instant, test, usage, type PeerCase } from '../../testing/peer-case.js';

/** A change of the quantity of a subscription's first line. */
const quantity = (line: Answer, count: string, at?: string) => ({
  type: 'quantity_change',
  quantity_change_params: {
    line_items: [
      { id: line.id, quantity: count, ...(at === undefined ? {} : { effective_date: at }) },
    ],
  },
});

/** Without what only tells one computation from another. */
const amountsOf = (invoice: Answer): Answer => [
  invoice.subtotal,
  invoice.total_discount,
  invoice.total_tax,
  invoice.total,
  invoice.line_items.map((line: Answer) => [
    line.display_name,
    line.quantity,
    line.amount,
    line.period_start,
    line.period_end,
  ]),
];

/** A subscription to seven seats from 1 January 2026 on. */
async function subscribeToSeats(peer: PeerCase): Promise<Answer> {
  await peer.live('2026-01-01');
  const plan = await peer.plan(advance('29.95', { min_quantity: 7 }));
  return peer.subscribe(plan);
}

describe('quantities of other systems', () => {
  test('KB-47: ten seats from the next period on cost 299.50 then, and nothing before', async ({
    peer,
  }) => {
    const subscription = await subscribeToSeats(peer);
    await peer.live('2026-01-16');
    const [line] = subscription.line_items;
    const at = subscription.current_period_end;
    const { changed_resources: changed } = await peer.post(
      subscription,
      'modify/execute',
      quantity(line, '10', at),
    );
    expect(changed.invoices).toEqual([]);
    await peer.live('2026-03-01T02:00:00Z');
    expect(await peer.invoices(subscription)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE 209.65',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE 299.50',
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE 299.50',
    ]);
    expect(await peer.credits()).toEqual([]);
  });

  test('KB-47: fewer seats from the next period on begin where a pause moves its end', async ({
    peer,
  }) => {
    const subscription = await subscribeToSeats(peer);
    await peer.live('2026-01-16');
    const [line] = subscription.line_items;
    const at = subscription.current_period_end;
    await peer.post(subscription, 'modify/execute', quantity(line, '3', at));
    await peer.post(subscription, 'pause', { pause_mode: 'immediate', pause_days: 10 });
    await peer.live('2026-03-11T02:00:00Z');
    expect(await peer.invoices(subscription)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE 209.65',
      '2026-01-01 2026-02-11 SUBSCRIPTION_CYCLE 89.85',
      '2026-02-11 2026-03-11 SUBSCRIPTION_CYCLE 89.85',
    ]);
  });
});

describe('a quantity in a period that was charged for none', () => {
  test('costs the rest of it at once, as any other increase', async ({ peer }) => {
    await peer.live('2026-01-01');
    const plan = await peer.plan(advance('12', { min_quantity: 10 }), arrear('31'));
    const subscription = await peer.subscribe(plan);
    await peer.live('2026-01-16');
    const seats = (of: Answer): Answer =>
      of.line_items.find(
        (line: Answer) => line.price.invoice_cadence === 'ADVANCE' && line.end_date === null,
      );
    await peer.post(subscription, 'modify/execute', quantity(seats(subscription), '0'));
    await peer.live('2026-02-15');
    const line = seats(await peer.read(subscription));
    const change = quantity(line, '5');
    const { changed_resources: changed } = await peer.post(subscription, 'modify/execute', change);
    // 60.00 × 14 ÷ 28.
    expect(changed.invoices.map(({ invoice }: Answer) => invoice.subtotal)).toEqual(['30.00']);
    await peer.live('2026-03-01T02:00:00Z');
    expect((await peer.find(subscription)).map(({ subtotal }) => subtotal).toSorted()).toEqual([
      '120.00',
      '30.00',
      '31.00',
      '91.00',
    ]);
  });
});

describe('a quantity of the next period', () => {
  test('follows one that comes before it, so that nothing is credited twice', async ({ peer }) => {
    const subscription = await subscribeToSeats(peer);
    await peer.live('2026-01-20');
    const [line] = subscription.line_items;
    const at = subscription.current_period_end;
    await peer.post(subscription, 'modify/execute', quantity(line, '10', at));
    await peer.post(subscription, 'modify/execute', quantity(line, '9'));
    await peer.live('2026-01-24');
    const cancelled = await peer.post(subscription, 'cancel', {
      proration_behavior: 'create_prorations',
    });
    // 209.65 × 8 ÷ 31, and of the 23.19 for two more seats 8 ÷ 12.
    expect(cancelled.total_credit_amount).toBe('69.56');
  });
});

/** Two pauses of January 2014: two days from the 8th, six from the 17th. */
async function pauseTwice(peer: PeerCase, subscription: Answer): Promise<void> {
  for (const [from, until] of [
    ...([
      ['2014-01-08', '2014-01-10'],
      ['2014-01-17', '2014-01-23'],
    ] as const),
  ]) {
    await peer.live(from);
    await peer.post(subscription, 'pause', { pause_mode: 'immediate' });
    await peer.live(until);
    await peer.post(subscription, 'resume');
  }
}

describe('pauses of other systems', () => {
  test('KB-42: of 12.00 for January, 8.90 are kept for the 23 days outside of two pauses', async ({
    peer,
  }) => {
    await peer.live('2014-01-01');
    const end = instant('2014-02-01');
    const subscription = await peer.subscribe(await peer.plan(arrear('12')), { end_date: end });
    await pauseTwice(peer, subscription);
    await peer.live('2014-02-01T02:00:00Z');
    // The 2.71, 2.71 and 3.48 of the case, on one line.
    expect(await peer.invoices(subscription)).toEqual([
      '2014-01-01 2014-02-01 SUBSCRIPTION_CYCLE 8.90',
    ]);
  });

  test('KB-42: paid in advance, the eight days come after the period (26), or back', async ({
    peer,
  }) => {
    await peer.live('2014-01-01');
    const subscription = await peer.subscribe(await peer.plan(advance('12')));
    await pauseTwice(peer, subscription);
    expect((await peer.read(subscription)).current_period_end).toBe(instant('2014-02-09'));
    await peer.live('2014-02-01');
    const cancelled = await peer.post(subscription, 'cancel', {
      proration_behavior: 'create_prorations',
    });
    // 12.00 less 8.90.
    expect(cancelled.total_credit_amount).toBe('3.10');
  });
});

describe('trials of other systems', () => {
  test.for([
    ['on an edge of a period', '2025-01-10', '2025-04-10'],
    ['inside a period', '2024-01-10', '2024-04-09'],
  ] as const)(
    'MT-16: a paid trial of 90 days that ends %s is a phase (28), whose end makes no invoice',
    async ([, start, end], { peer }) => {
      await peer.live(start);
      const phases = [
        { start_date: instant(start), end_date: instant(end) },
        { start_date: instant(end) },
      ];
      const subscription = await peer.subscribe(await peer.plan(advance('50')), { phases });
      await peer.live(`${end.slice(0, 8)}15`);
      const invoices = await peer.invoices(subscription);
      expect(invoices.map((one) => one.split(' ').slice(2).join(' '))).toEqual([
        'SUBSCRIPTION_CREATE 50.00',
        ...Array.from({ length: 3 }, () => 'SUBSCRIPTION_CYCLE 50.00'),
      ]);
    },
  );
});

describe('previews of other systems', () => {
  test('KB-48: write nothing, and equal what is stored afterwards', async ({ api, peer }) => {
    await peer.live('2026-01-01');
    const meter = await peer.meter('call');
    const price = { amount: '0.07', currency: 'usd', meter_id: meter.id };
    const subscription = await peer.subscribe(await peer.plan(advance('20'), arrear('31'), price));
    await meter.use('2026-01-10', 333);
    await peer.live('2026-01-20');
    const before = await peer.find(subscription);
    const preview = await api.make('/v1/invoices/preview', { subscription_id: subscription.id });
    const target = await peer.plan(advance('40'));
    const change = await peer.post(subscription, 'change/preview', {
      target_plan_id: target.id,
      billing_cadence: 'RECURRING',
      billing_cycle: 'calendar',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      proration_behavior: 'create_prorations',
    });
    const [line] = subscription.line_items;
    await peer.post(subscription, 'modify/preview', quantity(line, '3'));
    await peer.post(subscription, 'pause', { pause_mode: 'immediate', dry_run: true });
    expect(await peer.find(subscription)).toEqual(before);
    expect(await peer.credits()).toEqual([]);
    await peer.live('2026-02-01T02:00:00Z');
    const after = await peer.find(subscription);
    expect(after).toHaveLength(before.length + 1);
    expect(amountsOf(after.at(-1))).toEqual(amountsOf(preview));
    // 20.00 × 12 ÷ 31 are credited, and 40.00 × 12 ÷ 31 charged.
    expect(change.proration_details).toMatchObject({
      credit_amount: '7.74',
      charge_amount: '15.48',
      net_amount: '7.74',
    });
  });
});

describe('what happens twice in other systems', () => {
  test('FP-09: the same change applied twice is one, and two at one instant are two', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const seats = { min_quantity: 10 };
    const subscription = await peer.subscribe(
      await peer.plan(advance('12', seats), advance('5', seats)),
    );
    await peer.live('2026-01-16');
    const path = `/v1/subscriptions/${subscription.id}/modify/execute`;
    const [first, second] = subscription.line_items;
    const change = (line: Answer, key: string) =>
      api.call('POST', path, {
        body: quantity(line, '15'),
        headers: { 'idempotency-key': key },
      });
    const answers = [await change(first, 'a'), await change(first, 'a'), await change(second, 'b')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    // 5 × 12.00 × 16 ÷ 31, and 5 × 5.00 × 16 ÷ 31.
    expect(await peer.invoices(subscription)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE 170.00',
      '2026-01-16 2026-02-01 PRORATION 30.97',
      '2026-01-16 2026-02-01 PRORATION 12.90',
    ]);
  });

  test('FP-09: without a key, the same change of plan again is refused', async ({ api, peer }) => {
    await peer.live('2026-01-01');
    const old = await peer.subscribe(await peer.plan(advance('100')));
    await peer.live('2026-01-16');
    const target = await peer.plan(advance('200'));
    const done = await peer.change(old, target);
    const { status } = await api.call('POST', `/v1/subscriptions/${old.id}/change/execute`, {
      body: {
        target_plan_id: target.id,
        billing_cadence: 'RECURRING',
        billing_period: 'MONTHLY',
        billing_cycle: 'anniversary',
        billing_period_count: 1,
        proration_behavior: 'create_prorations',
      },
    });
    expect(status).toBe(400);
    expect(await peer.invoices(done.new_subscription)).toHaveLength(1);
    // Another plan at the same instant is another change, with an invoice of its own.
    const other = await peer.plan(advance('300'));
    const again = await peer.change(done.new_subscription, other);
    expect(await peer.invoices(again.new_subscription)).toEqual([
      '2026-01-16 2026-02-16 SUBSCRIPTION_UPDATE 100.00',
    ]);
  });
});

describe('an end while the bill of a period waits', () => {
  const SOON = '2026-02-01T00:30:00Z';
  /** What is done before the end: the job of the period is late, or has made its draft. */
  const WAITS: readonly (readonly [string, (peer: PeerCase) => Promise<void>])[] = [
    ['is not computed yet', ({ turn }) => turn(SOON)],
    ['is a draft until its delay is over', ({ live }) => live(SOON)],
  ];

  async function subscribe(peer: PeerCase): Promise<Answer> {
    await peer.live('2026-01-01');
    const calls = await peer.meter('call');
    const plan = await peer.plan(arrear('31'), usage(calls, '2'));
    const subscription = await peer.subscribe(plan);
    await calls.use('2026-01-20', 10);
    await calls.use('2026-02-01T00:10:00Z', 1);
    return subscription;
  }

  /** 31.00 and 20.00 of January; half an hour of February, and 2.00. */
  const BILLED = [
    '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE 51.00',
    '2026-02-01 2026-02-01 SUBSCRIPTION_CYCLE 2.02',
  ];

  test.for(WAITS)(
    'that %s leaves one bill of that period, whatever is asked again',
    async ([, wait], { api, peer }) => {
      const subscription = await subscribe(peer);
      await wait(peer);
      await peer.post(subscription, 'cancel');
      const path = `/v1/subscriptions/${subscription.id}/cancel`;
      expect((await api.call('POST', path, { body: {} })).status).toBe(400);
      await peer.live('2026-03-02');
      expect(await peer.invoices(subscription)).toEqual(BILLED);
    },
  );

  test('leaves one when the job comes at that instant', async ({ peer }) => {
    const subscription = await subscribe(peer);
    await peer.turn(SOON);
    await Promise.all([peer.live(SOON), peer.post(subscription, 'cancel')]);
    await peer.live('2026-03-02');
    expect(await peer.invoices(subscription)).toEqual(BILLED);
  });

  test.for([
    ['at once', {}, 'cancel'],
    ['by its end_date', { end_date: '2026-01-11T00:00:00Z' }, null],
  ] as const)('of a life of one day bills its usage, %s', async ([, members, path], { peer }) => {
    await peer.live('2026-01-10');
    const calls = await peer.meter('call');
    const plan = await peer.plan(usage(calls, '2'));
    const subscription = await peer.subscribe(plan, members);
    await calls.use('2026-01-10T23:59:59.999Z', 5);
    await calls.use('2026-01-11', 7);
    await peer.turn('2026-01-11');
    if (path !== null) await peer.post(subscription, path);
    await peer.live('2026-02-10T03:00:00Z');
    expect(await peer.invoices(subscription)).toEqual([
      '2026-01-10 2026-01-11 SUBSCRIPTION_CYCLE 10.00',
    ]);
  });
});
