import { describe, expect } from 'vitest';
import type { Answer } from '../../testing/money-test.js';
import { advance, test, usage } from '../../testing/peer-case.js';
import { payOpen } from '../../testing/pay-open.js';

/** From which price to which, the start of the period, the day of the change, and what it costs. */
type Changed = readonly [
  ...[id: string, period: string, from: string, to: string, start: string, at: string],
  ...[credit: string, charge: string, net: string],
];

/** Changes in periods that begin where those of the calendar do. */
const IN_CALENDAR: readonly Changed[] = (
  [
    ['FP-01: by day', 'MONTHLY 10 20 2024-03-01 2024-03-15 5.48 10.97 5.49'],
    ['PO-01: half of June', 'MONTHLY 100 300 2025-06-01 2025-06-16 50.00 150.00 100.00'],
    ['PO-01: a third of June', 'MONTHLY 100 300 2025-06-01 2025-06-11 66.67 200.00 133.33'],
    ['FD-01: 20 of 30 days left', 'MONTHLY 50 100 2026-04-01 2026-04-11 33.33 66.67 33.34'],
    ['FD-01: half of a quarter', 'QUARTERLY 300 150 2026-01-01 2026-02-15 150.00 75.00 -75.00'],
    ['FD-01: 265 of 365 days', 'ANNUAL 600 1200 2026-01-01 2026-04-11 435.62 871.23 435.61'],
    ['ST-01: at half of the period', 'MONTHLY 10 20 2026-04-01 2026-04-16 5.00 10.00 5.00'],
    ['CB-01: to a lower price', 'MONTHLY 60 30 2026-04-01 2026-04-21 20.00 10.00 -10.00'],
    ['AU-01: at half of the period', 'MONTHLY 20 50 2026-04-01 2026-04-16 10.00 25.00 15.00'],
    ['SS-01: pay the difference now', 'MONTHLY 30 60 2026-09-01 2026-09-16 15.00 30.00 15.00'],
  ] as const
).map(([id, text]) => [id, ...text.split(' ')] as unknown as Changed);

/** Changes in periods that begin on another day. */
const IN_OTHERS: readonly Changed[] = (
  [
    ['PO-01: from 18 February', 'MONTHLY 100 300 2024-02-18 2024-02-25 75.86 227.59 151.73'],
    ['PO-02: a year', 'ANNUAL 1000 3000 2024-08-01 2024-10-01 832.88 2498.63 1665.75'],
    ['PO-02: with a leap day', 'ANNUAL 1000 3000 2024-02-18 2024-09-05 453.55 1360.66 907.11'],
    ['PO-02: before it', 'ANNUAL 1000 3000 2023-02-18 2023-09-05 454.79 1364.38 909.59'],
  ] as const
).map(([id, text]) => [id, ...text.split(' ')] as unknown as Changed);

const PRORATED = { proration_behavior: 'create_prorations' };

const detailsOf = (credit: string, charge: string, net: string) => ({
  credit_amount: credit,
  charge_amount: charge,
  net_amount: net,
});

/** What goes to a wallet of a change that costs so much. */
const creditOf = (net: string): readonly string[] =>
  net.startsWith('-') ? [net.slice(1).replace(/\.?0+$/, '')] : [];

describe('a change of plan that keeps the periods of the calendar', () => {
  test.for(IN_CALENDAR)('%s', async ([, period, from, to, start, at, ...amounts], { peer }) => {
    const [credit, charge, net] = amounts;
    await peer.live(start);
    const terms = { billing_period: period, billing_cycle: 'calendar' };
    const of = { billing_period: period };
    const old = await peer.subscribe(await peer.plan(advance(from, of)), terms);
    await peer.live(at);
    const done = await peer.change(old, await peer.plan(advance(to, of)), terms);
    expect(done.proration_applied).toMatchObject(detailsOf(credit, charge, net));
    expect(done.invoice.total).toBe(net.startsWith('-') ? '0.00' : net);
    expect(await peer.credits()).toEqual(creditOf(net));
  });

  test('CB-01: what is left of the credit pays for May', async ({ peer }) => {
    await peer.live('2026-04-01');
    const old = await peer.subscribe(await peer.plan(advance('60')));
    await peer.live('2026-04-21');
    const terms = { billing_cycle: 'calendar' };
    const { new_subscription: young } = await peer.change(
      ...([old, await peer.plan(advance('30')), terms] as const),
    );
    await peer.live('2026-05-01T02:00:00Z');
    expect(await peer.invoices(young)).toEqual([
      '2026-04-21 2026-05-01 SUBSCRIPTION_UPDATE 0.00',
      '2026-04-21 2026-05-01 SUBSCRIPTION_CYCLE 20.00',
    ]);
    expect(await peer.credits()).toEqual(['0']);
  });

  test('SS-01: the next charge is the whole new price', async ({ peer }) => {
    await peer.live('2026-09-01');
    const old = await peer.subscribe(await peer.plan(advance('30')));
    await peer.live('2026-09-16');
    const terms = { billing_cycle: 'calendar' };
    const { new_subscription: young } = await peer.change(
      ...([old, await peer.plan(advance('60')), terms] as const),
    );
    await peer.live('2026-10-01T02:00:00Z');
    expect(await peer.invoices(young)).toEqual([
      '2026-09-16 2026-10-01 SUBSCRIPTION_UPDATE 15.00',
      '2026-09-16 2026-10-01 SUBSCRIPTION_CYCLE 60.00',
    ]);
  });
});

/** What a price costs that changes alone, where its difference, rounded once, is another one. */
const NETS_OF_PRICE: Readonly<Record<string, string>> = {
  'FP-01: by day': '5.48',
  'FD-01: 20 of 30 days left': '33.33',
  'FD-01: 265 of 365 days': '435.62',
  'PO-01: from 18 February': '151.72',
  'PO-02: with a leap day': '907.10',
};

describe('another price in the same period', () => {
  test.for([...IN_CALENDAR, ...IN_OTHERS])(
    '%s',
    async ([id, period, from, to, start, at, , , ofPlan], { api, peer }) => {
      const net = NETS_OF_PRICE[id] ?? ofPlan;
      await peer.live(start);
      const of = { billing_period: period };
      const plan = await peer.plan(advance(from, of));
      const subscription = await peer.subscribe(plan, of);
      await payOpen(api);
      await peer.live(at);
      const [line] = subscription.line_items;
      const path = `/v1/subscriptions/lineitems/${line.id}`;
      expect((await api.call('PUT', path, { body: { amount: to } })).status).toBe(200);
      const invoices = await peer.find(subscription);
      expect(invoices.slice(1).map((one: Answer) => [one.billing_reason, one.total])).toEqual(
        net.startsWith('-') ? [] : [['PRORATION', net]],
      );
      expect(await peer.credits()).toEqual(creditOf(net));
    },
  );
});

describe('a change of plan that begins a new period', () => {
  test.for([
    ['PO-03: half of June', 'MONTHLY 100 ANNUAL 1000 2025-06-01 2025-06-16 50.00 1000.00'],
    ['PO-03: a third of June', 'MONTHLY 100 ANNUAL 1000 2025-06-01 2025-06-11 66.67 1000.00'],
    ['PO-03: 18 February', 'MONTHLY 100 ANNUAL 1000 2024-02-18 2024-02-25 75.86 1000.00'],
    ['PO-04: a year to a month', 'ANNUAL 1000 MONTHLY 100 2025-06-01 2025-08-13 800.00 100.00'],
    ['PO-04: of a leap year', 'ANNUAL 1000 MONTHLY 100 2024-02-18 2024-04-19 833.33 100.00'],
    // The credit is that of the case; the charge is that of a new period (34.28).
    ['PO-01: 18 February', 'MONTHLY 100 MONTHLY 300 2024-02-18 2024-02-25 75.86 300.00'],
    ['PO-02: with a leap day', 'ANNUAL 1000 ANNUAL 3000 2024-02-18 2024-09-05 453.55 3000.00'],
  ] as const)('%s', async ([, text], { peer }) => {
    const [before, from, after, to, start, at, credit, charge] = text.split(' ') as [
      ...[string, string, string, string, string, string, string, string],
    ];
    await peer.live(start);
    const plan = await peer.plan(advance(from, { billing_period: before }));
    const old = await peer.subscribe(plan, { billing_period: before });
    await peer.live(at);
    const target = await peer.plan(advance(to, { billing_period: after }));
    const done = await peer.change(old, target, { billing_period: after });
    expect(done.proration_applied).toMatchObject({ credit_amount: credit, charge_amount: charge });
    expect(done.new_subscription.billing_anchor.slice(0, 10)).toBe(at);
  });

  test('KB-32: a year to a month on the first day: all of the year comes back', async ({
    peer,
  }) => {
    await peer.live('2012-05-01');
    const year = { billing_period: 'ANNUAL' };
    const old = await peer.subscribe(await peer.plan(advance('2399.95', year)), year);
    const done = await peer.change(old, await peer.plan(advance('249.95')));
    expect(done.proration_applied).toMatchObject(detailsOf('2399.95', '249.95', '-2150.00'));
    expect(await peer.credits()).toEqual(['2150']);
    await peer.live('2012-07-01T02:00:00Z');
    // The next two months are paid from what came back.
    expect(await peer.invoices(done.new_subscription)).toEqual([
      '2012-05-01 2012-06-01 SUBSCRIPTION_UPDATE 0.00',
      '2012-05-01 2012-06-01 SUBSCRIPTION_CYCLE 0.00',
      '2012-06-01 2012-07-01 SUBSCRIPTION_CYCLE 0.00',
    ]);
    expect(await peer.credits()).toEqual(['1650.1']);
  });
});

describe('changes after something was given back', () => {
  test('KB-30: after a part was adjusted, the credit is at most what is left', async ({
    api,
    peer,
  }) => {
    await peer.live('2012-05-01');
    const old = await peer.subscribe(await peer.plan(advance('249.95')));
    const [invoice] = await peer.find(old);
    await api.call('PUT', `/v1/invoices/${invoice.id}/payment`, {
      body: { payment_status: 'SUCCEEDED' },
    });
    await peer.live('2012-05-02');
    const [line] = (await api.call('GET', `/v1/invoices/${invoice.id}`)).body.line_items;
    await api.make('/v1/creditnotes', {
      invoice_id: invoice.id,
      line_items: [{ invoice_line_item_id: line.id, amount: '10.00' }],
    });
    expect(await peer.credits()).toEqual(['10']);
    const target = await peer.plan(advance('9.95'));
    const done = await peer.change(old, target, { billing_cycle: 'calendar' });
    // 249.95 × 30 ÷ 31 would be 241.89; with the 10.00 that is more than was paid.
    expect(done.proration_applied).toMatchObject(detailsOf('239.95', '9.63', '-230.32'));
    expect(await peer.credits()).toEqual(['240.32']);
  });

  test('KB-31: two changes, each credited once; what is left pays later invoices', async ({
    peer,
  }) => {
    await peer.live('2012-05-01');
    const terms = { billing_cycle: 'calendar' };
    const first = await peer.subscribe(await peer.plan(advance('599.95')));
    await peer.live('2012-05-07');
    const there = await peer.change(first, await peer.plan(advance('9.95')), terms);
    expect(there.proration_applied).toMatchObject(detailsOf('483.83', '8.02', '-475.81'));
    expect(await peer.credits()).toEqual(['475.81']);
    await peer.live('2012-05-08');
    const second = there.new_subscription;
    const on = await peer.change(second, await peer.plan(advance('29.95')), terms);
    expect(on.proration_applied).toMatchObject(detailsOf('7.70', '23.19', '15.49'));
    // 15.49 are paid from what came back.
    expect(on.invoice).toMatchObject({ total_prepaid_credits_applied: '15.49', total: '0.00' });
    expect(await peer.credits()).toEqual(['460.32']);
    await peer.live('2012-07-01T02:00:00Z');
    const invoices = await peer.find(on.new_subscription);
    expect(
      invoices
        .slice(1)
        .map((one: Answer) => [one.subtotal, one.total_prepaid_credits_applied, one.total]),
    ).toEqual([
      ['29.95', '29.95', '0.00'],
      ['29.95', '29.95', '0.00'],
    ]);
    expect(await peer.credits()).toEqual(['400.42']);
  });

  test('PO-05: four changes in a month, each from its own day', async ({ peer }) => {
    await peer.live('2025-06-01');
    const terms = { billing_cycle: 'calendar' };
    let running = await peer.subscribe(await peer.plan(advance('100')));
    const entries: string[] = [];
    const settled: Answer[] = [];
    for (const [day, price] of [
      ...([
        ['07', '200'],
        ['13', '300'],
        ['19', '400'],
        ['25', '500'],
      ] as const),
    ]) {
      await peer.live(`2025-06-${day}`);
      const done = await peer.change(running, await peer.plan(advance(price)), terms);
      const { credit_amount: credit, charge_amount: charge } = done.proration_applied;
      entries.push(`-${credit} +${charge}`);
      settled.push(...(await peer.invoices(done.new_subscription)));
      running = done.new_subscription;
    }
    expect(entries).toEqual([
      '-80.00 +160.00',
      '-120.00 +180.00',
      '-120.00 +160.00',
      '-80.00 +100.00',
    ]);
    // Earlier entries are as they were.
    expect(settled).toEqual([
      '2025-06-07 2025-07-01 SUBSCRIPTION_UPDATE 80.00',
      '2025-06-13 2025-07-01 SUBSCRIPTION_UPDATE 60.00',
      '2025-06-19 2025-07-01 SUBSCRIPTION_UPDATE 40.00',
      '2025-06-25 2025-07-01 SUBSCRIPTION_UPDATE 20.00',
    ]);
  });
});

describe('a change of plan with several prices', () => {
  test.for([
    ['MT-02, there', ['29', '10'], ['99', '25'], '20.13', '64.00', '43.87', []],
    ['MT-02, the reverse', ['99', '25'], ['29', '10'], '64.00', '20.13', '-43.87', ['43.87']],
  ] as const)('%s', async ([, from, to, credit, charge, net, wallets], { peer }) => {
    await peer.live('2024-01-01');
    const old = await peer.subscribe(await peer.plan(...from.map((one) => advance(one))));
    await peer.live('2024-01-16');
    const target = await peer.plan(...to.map((one) => advance(one)));
    const done = await peer.change(old, target, { billing_cycle: 'calendar' });
    expect(done.proration_applied).toMatchObject(detailsOf(credit, charge, net));
    expect(done.invoice.total).toBe(net.startsWith('-') ? '0.00' : net);
    expect(await peer.credits()).toEqual(wallets);
  });

  test('MT-05: usage is split at the change, each part at its own price', async ({ peer }) => {
    await peer.live('2025-02-01');
    const calls = await peer.meter('call');
    const gigabytes = await peer.meter('gigabyte');
    const old = await peer.subscribe(await peer.plan(advance('10'), usage(calls, '0.10')));
    await calls.use('2025-02-14T23:59:59.999Z', 50);
    await peer.live('2025-02-15');
    const target = await peer.plan(advance('20'), usage(calls, '0.20'), usage(gigabytes, '0.50'));
    const terms = { billing_cycle: 'calendar', ...PRORATED };
    const done = await peer.change(old, target, terms);
    expect(done.invoice).toMatchObject({ subtotal: '5.00', total: '5.00' });
    await calls.use('2025-02-15', 200);
    await gigabytes.use('2025-02-20', 100);
    await peer.live('2025-03-01T02:00:00Z');
    // The usage on the old plan is invoiced at the change: 5.00 and 110.00 are the 115.00.
    expect(await peer.invoices(old)).toEqual([
      '2025-02-01 2025-03-01 SUBSCRIPTION_CREATE 10.00',
      '2025-02-01 2025-02-15 SUBSCRIPTION_CYCLE 5.00',
    ]);
    const [, march] = await peer.find(done.new_subscription);
    expect(march.line_items.map((one: Answer) => one.amount).sort()).toEqual([
      '20.00',
      '40.00',
      '50.00',
    ]);
    expect(march.total).toBe('110.00');
  });

  test('MT-06: only the usage price changes', async ({ peer }) => {
    await peer.live('2025-02-01');
    const calls = await peer.meter('call');
    const old = await peer.subscribe(await peer.plan(advance('10'), usage(calls, '0.10')));
    await peer.live('2025-02-15');
    await calls.use('2025-02-14T10:00:00Z', 500);
    const target = await peer.plan(advance('10'), usage(calls, '0.11'));
    const done = await peer.change(old, target, { billing_cycle: 'calendar' });
    expect(done.proration_applied.net_amount).toBe('0.00');
    await calls.use('2025-02-20T10:00:00Z', 800);
    await peer.live('2025-03-01T02:00:00Z');
    // The usage of each plan is on its own invoice: 50.00 and 98.00 are the 148.00.
    expect(await peer.invoices(old)).toEqual([
      '2025-02-01 2025-03-01 SUBSCRIPTION_CREATE 10.00',
      '2025-02-01 2025-02-15 SUBSCRIPTION_CYCLE 50.00',
    ]);
    expect(await peer.invoices(done.new_subscription)).toEqual([
      '2025-02-15 2025-03-01 SUBSCRIPTION_UPDATE 0.00',
      '2025-02-15 2025-03-01 SUBSCRIPTION_CYCLE 98.00',
    ]);
  });
});

test('a change of plan warns of a quantity that falls, and keeps or sets it where it is asked to (25.3)', async ({
  api,
  peer,
}) => {
  await peer.live('2026-01-01');
  const named = (amount: string, display_name: string) => advance(amount, { display_name });
  const priceOf = async (plan: Answer, name: string) => {
    const { items } = await api.make('/v1/prices/search', { plan_ids: [plan.id] });
    return items.find((one: Answer) => one.display_name === name).id;
  };
  const plan = await peer.plan(named('10', 'Seats'), named('3', 'Desks'));
  const seats = [{ price_id: await priceOf(plan, 'Seats'), quantity: '5' }];
  const old = await peer.subscribe(plan, { override_line_items: seats });
  const target = await peer.plan(named('20', 'Seats'), named('1', 'Rooms'));
  const other = await peer.plan(named('20', 'Chairs'), named('1', 'Rooms'));
  const bodyTo = (to: Answer, members: object = {}) => ({
    target_plan_id: to.id,
    billing_cadence: 'RECURRING',
    billing_cycle: 'anniversary',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    proration_behavior: 'none',
    ...members,
  });
  const preview = (body: object) => peer.post(old, 'change/preview', body);
  const keep = { keep_quantities: true };
  expect((await preview(bodyTo(target))).warnings).toContain(
    'the quantity of "Seats" falls from 5 to 1; keep_quantities or override_line_items keep it',
  );
  expect((await preview(bodyTo(other))).warnings).toContain(
    '"Seats" of 5 ends, and no line of the new plan has its name',
  );
  const refused = await api.call('POST', `/v1/subscriptions/${old.id}/change/preview`, {
    body: bodyTo(other, keep),
  });
  expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, ['keep_quantities']]);
  const set = [{ price_id: await priceOf(target, 'Seats'), quantity: '7' }];
  const given = await preview(bodyTo(target, { override_line_items: set }));
  // 7 × 20.00 + 1.00.
  expect(given.proration_details.charge_amount).toBe('141.00');
  const kept = await preview(bodyTo(target, keep));
  expect(kept.warnings.join()).not.toMatch('quantity');
  const { preview_token } = kept;
  const done = await peer.post(old, 'change/execute', bodyTo(target, { ...keep, preview_token }));
  expect(done.proration_applied.charge_amount).toBe('101.00');
});
