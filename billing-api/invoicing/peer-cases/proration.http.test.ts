import { describe, expect } from 'vitest';
import type { Answer } from '../../testing/money-test.js';
import { advance, arrear, instant, test, type PeerCase } from '../../testing/peer-case.js';

const PRORATED = { proration_behavior: 'create_prorations' };

/** The amounts of the lines of all invoices of a subscription, oldest invoice first. */
const amountsOf = async (peer: PeerCase, subscription: Answer): Promise<readonly string[]> =>
  (await peer.find(subscription)).flatMap((one) =>
    one.line_items.map((line: Answer) => line.amount),
  );

/** Start, anchor and end of a subscription, its price, and what is charged for its periods. */
type Cut = readonly [
  ...[id: string, price: string, start: string, anchor: string, end: string],
  amounts: readonly string[],
];

const CUT: readonly Cut[] = [
  [
    ...(['KB-08: the end is two days after an edge', '31', '2010-12-15', '2010-12-15'] as const),
    ...(['2011-03-17', ['31.00', '31.00', '31.00', '2.00']] as const),
  ],
  ...(
    [
      ['2023-05-23', '2023-06-15', '741935483.87'],
      ['2023-06-23', '2023-07-15', '733333333.33'],
      ['2023-02-23', '2023-03-15', '714285714.29'],
      ['2024-02-23', '2024-03-15', '724137931.03'],
    ] as const
  ).map(([start, anchor, amount]): Cut => [
    ...([`KB-09: ${start} to the 15th`, '1000000000', start, anchor, anchor] as const),
    [amount],
  ]),
  ...(
    [
      ['2021-01-27', '2021-02-01', '2021-02-01', '5 ÷ 31', '161.29'],
      ['2021-02-27', '2021-03-01', '2021-03-01', '2 ÷ 28', '71.43'],
      ['2020-02-01', '2020-03-01', '2020-03-01', '29 ÷ 29', '1000.00'],
      ['2021-04-21', '2021-05-01', '2021-04-30', '9 ÷ 30', '300.00'],
    ] as const
  ).map(([start, anchor, end, share, amount]): Cut => [
    `ZU-04: ${start} is ${share} by actual days, the only rule (13.4)`,
    ...(['1000', start, anchor, end, [amount]] as const),
  ]),
  [
    'ZU-05: 18 August to the end of the year is 155.81 by actual days, the only rule (13.4)',
    ...(['35', '2018-08-18', '2018-09-01', '2019-01-01'] as const),
    ['15.81', '35.00', '35.00', '35.00', '35.00'],
  ],
];

describe('parts of periods of other systems', () => {
  test.for(CUT)('%s', async ([, price, start, anchor, end, amounts], { peer }) => {
    await peer.live(start);
    const subscription = await peer.subscribe(await peer.plan(advance(price)), {
      billing_anchor: instant(anchor),
      end_date: instant(end),
      ...PRORATED,
    });
    await peer.live(new Date(Date.parse(end) + 7_200_000).toISOString());
    expect(await amountsOf(peer, subscription)).toEqual(amounts);
  });

  test.for([
    ['2026-04-01', '20.00'],
    ['2026-04-11', '13.33'],
    ['2026-04-21', '6.67'],
    ['2026-04-30', '0.67'],
    ['2026-04-30T23:59:59.000Z', '0.00'],
  ] as const)('FP-07: 20.00 added at %s costs %s of April', async ([at, amount], { api, peer }) => {
    await peer.live('2026-04-01');
    const subscription = await peer.subscribe(await peer.plan(arrear('5')));
    await peer.turn(at);
    const { id } = subscription;
    await api.make(`/v1/subscriptions/${id}/lineitems`, { price: advance('20') });
    await peer.live('2026-05-01T02:00:00Z');
    expect(await amountsOf(peer, subscription)).toEqual(['5.00', amount, '20.00']);
  });
});

describe('an item that is added at the very start of a period (FP-07)', () => {
  test.for([
    // An item that is said to have begun with the period, which runs.
    ['2024-02-01', '2024-02-15T10:00:00.000Z', 'UTC', '2024-03-01', '29.00'],
    // Local midnights of Berlin, with the clock change of March between them.
    [
      ...(['2026-02-28T23:00:00.000Z', '2026-02-28T23:00:00.000Z', 'Europe/Berlin'] as const),
      ...(['2026-03-31T22:00:00.000Z', '29.00'] as const),
    ],
    ['2026-01-31', '2026-01-31', 'UTC', '2026-02-28', '29.00'],
  ] as const)('%s, on %s, %s', async ([start, at, zone, end, amount], { api, peer }) => {
    await peer.live(start);
    const subscription = await peer.subscribe(await peer.plan(advance('10')), {
      customer_timezone: zone,
    });
    await peer.turn(at);
    await api.make(`/v1/subscriptions/${subscription.id}/lineitems`, {
      price: advance('29'),
      start_date: instant(start),
    });
    const preview = await api.make('/v1/invoices/preview', { subscription_id: subscription.id });
    await peer.live(new Date(Date.parse(instant(end)) + 7_200_000).toISOString());
    const charged = (await peer.find(subscription))[1];
    expect(preview.total).toBe(charged.total);
    // For the period that has ended, and for the next one; then once for each.
    expect(charged.line_items.map((line: Answer) => [line.amount, line.period_start])).toEqual([
      ['10.00', instant(end)] as const,
      [amount, instant(start)] as const,
      [amount, instant(end)],
    ]);
  });
});

describe('an addon of 20.00 of April that is removed on 11 April', () => {
  /** What was given back by notes before, or taken off by a coupon, and what then comes back. */
  const REMOVED = [
    ['FP-08: gives 13.33 back', null, null, '13.33'],
    ['FP-08: of which notes have left 5.00, gives 5.00 back', '15.00', null, '5'],
    ['FP-08: of which notes have given 8.00 back, gives 12.00 back', '8.00', null, '12'],
    [
      'FP-08: billed with 5.00, by a coupon, gives its share of 5.00 back (23.1)',
      null,
      '15',
      '3.33',
    ],
  ] as const;

  test.for(REMOVED)('%s', async ([, noted, coupon, credit], { api, peer }) => {
    await peer.live('2026-04-01');
    const addon = await api.make('/v1/addons', { name: 'More', lookup_key: 'more' });
    const price = { entity_type: 'ADDON', entity_id: addon.id, ...advance('20') };
    await api.make('/v1/prices', price);
    if (coupon !== null) {
      await api.make('/v1/coupons', {
        name: 'Off',
        coupon_code: 'OFF',
        type: 'fixed',
        amount_off: coupon,
        currency: 'usd',
        cadence: 'once',
      });
    }
    const subscription = await peer.subscribe(await peer.plan(arrear('5')), {
      addons: [{ addon_id: addon.id }],
      coupons: coupon === null ? [] : ['OFF'],
    });
    const [invoice] = await peer.find(subscription);
    await api.call('PUT', `/v1/invoices/${invoice.id}/payment`, {
      body: { payment_status: 'SUCCEEDED' },
    });
    const [line] = invoice.line_items;
    if (noted !== null) {
      await api.make('/v1/creditnotes', {
        invoice_id: invoice.id,
        line_items: [{ invoice_line_item_id: line.id, amount: noted }],
      });
    }
    await peer.live('2026-04-11');
    const path = `/v1/subscriptions/${subscription.id}/addons/associations`;
    const [association] = (await api.call('GET', path)).body.items;
    const { body } = await api.call('DELETE', '/v1/subscriptions/addon', {
      body: {
        addon_association_id: association.id,
        effective_date: instant('2026-04-11'),
        ...PRORATED,
      },
    });
    expect(body.wallet_transaction.amount).toBe(credit);
  });
});

describe('one period that is cut', () => {
  test('ZU-06: a year costs 7380.00 however it is cut', async ({ api, peer }) => {
    await peer.live('2019-07-05');
    const year = { billing_period: 'ANNUAL' };
    const subscription = await peer.subscribe(await peer.plan(arrear('7380', year)), year);
    await peer.live('2019-08-01');
    const [line] = subscription.line_items;
    const path = `/v1/subscriptions/lineitems/${line.id}`;
    await api.call('PUT', path, { body: { quantity: '1' } });
    await peer.live('2020-07-05T02:00:00Z');
    expect(await amountsOf(peer, subscription)).toEqual(['544.43', '6835.57']);
  });

  test('ZU-06: a year that is aligned to another day lies in two, each with its own days (34.29)', async ({
    peer,
  }) => {
    await peer.live('2019-07-05');
    const year = { billing_period: 'ANNUAL' };
    const subscription = await peer.subscribe(await peer.plan(advance('7380', year)), {
      ...year,
      billing_anchor: instant('2019-08-01'),
      end_date: instant('2020-07-05'),
      ...PRORATED,
    });
    await peer.live('2020-07-05T02:00:00Z');
    expect(await amountsOf(peer, subscription)).toEqual(['545.92', '6835.57']);
  });

  test.for([
    ['create_prorations', '181.00', '90.00', 365],
    ['none', '365.00', '181.49', 181],
  ] as const)(
    'RC-01: a first year cut short, with %s, costs %s, of which %s are unused on 2 April; its line says so, of %i days (13.4)',
    async ([behavior, charge, credit, full], { api, peer }) => {
      await peer.live('2025-01-01');
      const year = { billing_period: 'ANNUAL' };
      const subscription = await peer.subscribe(await peer.plan(advance('365', year)), {
        ...year,
        billing_anchor: instant('2025-07-01'),
        proration_behavior: behavior,
      });
      expect(await amountsOf(peer, subscription)).toEqual([charge]);
      const [{ id }] = await peer.find(subscription);
      const { body } = await api.call('GET', `/v1/invoices/${id}`);
      const line = `/v1/invoices/${id}/line_items/${body.line_items[0].id}/explain`;
      const days = (await api.call('GET', line)).body.proration;
      expect([days.covered_seconds, days.full_seconds].map((one) => one / 86_400)).toEqual([
        181,
        full,
      ]);
      await peer.live('2025-04-02');
      const cancelled = await peer.post(subscription, 'cancel', PRORATED);
      expect(cancelled.total_credit_amount).toBe(credit);
    },
  );
});
