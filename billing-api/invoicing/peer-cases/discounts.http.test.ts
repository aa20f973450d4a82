import { expect } from 'vitest';
import { giveInvoice, makeCustomer, makeTax } from '../../testing/given-invoice.js';
import { test, type Answer } from '../../testing/money-test.js';
import { advance, test as peerTest } from '../../testing/peer-case.js';
import { payOpen } from '../../testing/pay-open.js';

/**
 * Worked cases of other billing systems about discounts, by the ids under which they were
 * collected. Where ours differ, docs/domain.md 34.32 says which and why.
 */

type Discounted = readonly [
  ...[title: string, currency: string, coupons: readonly string[], lines: readonly string[]],
  ...[discounts: readonly string[], sums: readonly [string, string, string, string]],
];
const LINES = ['992.90', '2997.70', '31.30', '64.60', '31.30', '19.99'];

const CASES: readonly Discounted[] = [
  [
    'LG-09: two coupons of 10.00 over six lines: shares of whole cents that add up to 20.00',
    ...(['usd', ['10.00', '10.00'], LINES] as const),
    ['4.80', '14.48', '0.15', '0.32', '0.15', '0.10'],
    ['4137.79', '20.00', '411.78', '4529.57'],
  ],
  [
    'LG-09: one coupon of 20.00 over the same lines',
    ...(['usd', ['20.00'], LINES] as const),
    ['4.80', '14.49', '0.15', '0.31', '0.15', '0.10'],
    ['4137.79', '20.00', '411.78', '4529.57'],
  ],
  [
    'LG-09: the same in yen',
    ...(['jpy', ['10'], ['10', '10', '10']] as const),
    ['4', '3', '3'],
    ['30', '10', '2', '22'],
  ],
  [
    'LG-09: the same with three digits',
    ...(['kwd', ['1.000', '1.000'], ['10', '10', '10']] as const),
    ['0.667', '0.667', '0.666'],
    ['30.000', '2.000', '2.800', '30.800'],
  ],
];

test.for(CASES)('%s', async ([, currency, coupons, lines, discounts, sums], { api, money: _ }) => {
  const codes: string[] = [];
  for (const [index, amount_off] of coupons.entries()) {
    const coupon_code = `OFF${index}`;
    await api.make('/v1/coupons', {
      name: coupon_code,
      coupon_code,
      type: 'fixed',
      amount_off,
      currency,
      cadence: 'once',
    });
    codes.push(coupon_code);
  }
  const invoice = await giveInvoice(api, lines, {
    customerId: await makeCustomer(api),
    currency,
    coupons: codes,
    tax_rates: [await makeTax(api, '10')],
  });
  expect(invoice.line_items.map((one: Answer) => one.invoice_level_discount)).toEqual(discounts);
  const { subtotal, total_discount: discount, total_tax: tax, total } = invoice;
  expect([subtotal, discount, tax, total]).toEqual(sums);
});

/** A coupon that lasts. */
const coupon = (members: object) => ({
  name: 'Off',
  coupon_code: 'OFF',
  cadence: 'forever',
  ...members,
});

peerTest(
  'PO-06: a fixed discount of 90 over two prices, and a change of plan at half of the period',
  async ({ api, peer }) => {
    await api.make('/v1/coupons', coupon({ type: 'fixed', amount_off: '90', currency: 'usd' }));
    await peer.live('2026-11-01');
    const old = await peer.plan(advance('100'), advance('200'));
    const target = await peer.plan(advance('300'), advance('200'));
    const subscription = await peer.subscribe(old, { billing_cycle: 'calendar', coupons: ['OFF'] });
    const [opening] = await peer.find(subscription);
    const discountsOf = ({ line_items: items }: Answer) =>
      items.map((one: Answer) => [one.amount, one.invoice_level_discount]).sort();
    expect(discountsOf(opening)).toEqual([
      ['100.00', '30.00'],
      ['200.00', '60.00'],
    ]);
    await peer.live('2026-11-16');
    const changed = await peer.change(subscription, target, { billing_cycle: 'calendar' });
    // (100 - 30) / 2 and (200 - 60) / 2; (300 - 54) / 2 and (200 - 36) / 2.
    expect(discountsOf(changed.invoice)).toEqual([
      ['-35.00', '0.00'],
      ['-70.00', '0.00'],
      ['100.00', '18.00'],
      ['150.00', '27.00'],
    ]);
    expect(changed.invoice.total).toBe('100.00');
    await peer.live('2026-12-01T03:00:00Z');
    const cycle = (await peer.find(changed.new_subscription)).at(-1);
    expect(discountsOf(cycle)).toEqual([
      ['200.00', '36.00'],
      ['300.00', '54.00'],
    ]);
  },
);

peerTest.for([
  ['PO-08: seats from 2 to 4 with 10 %, at half of the period', '10', '2026-11-16', '4', '45.00'],
  ['PO-08: after a third of it', '10', '2026-11-11', '4', '60.00'],
  ['PO-08: without a discount', null, '2026-11-16', '4', '50.00'],
] as const)('%s', async ([, percentage_off, at, quantity, total], { api, peer }) => {
  await api.make(
    '/v1/coupons',
    coupon({ type: 'percentage', percentage_off: percentage_off ?? '5' }),
  );
  await peer.live('2026-11-01');
  const plan = await peer.plan(advance('100'), advance('50', { min_quantity: 2 }));
  const subscription = await peer.subscribe(plan, {
    ...(percentage_off === null ? {} : { coupons: ['OFF'] }),
  });
  const seats = subscription.line_items.find((one: Answer) => one.quantity === '2');
  await peer.live(at);
  const changed = await peer.post(subscription, 'modify/execute', {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: seats.id, quantity }] },
  });
  expect(changed.changed_resources.invoices[0].invoice.total).toBe(total);
});

peerTest(
  'PO-08: back to 2 seats at the same instant gives back what was charged',
  async ({ api, peer }) => {
    await api.make('/v1/coupons', coupon({ type: 'percentage', percentage_off: '10' }));
    await peer.live('2026-11-01');
    const subscription = await peer.subscribe(await peer.plan(advance('50', { min_quantity: 2 })), {
      coupons: ['OFF'],
    });
    await peer.live('2026-11-16');
    const setSeats = async (id: string, quantity: string) => {
      const line_items = [{ id, quantity }];
      const body = { type: 'quantity_change', quantity_change_params: { line_items } };
      const { changed_resources: changed } = await peer.post(subscription, 'modify/execute', body);
      return changed.line_items.at(-1).id as string;
    };
    const more = await setSeats(subscription.line_items[0].id, '4');
    await payOpen(api);
    await setSeats(more, '2');
    expect(await peer.credits()).toEqual(['45']);
  },
);

peerTest('PO-08: another price of a line has the discount too', async ({ api, peer }) => {
  await api.make('/v1/coupons', coupon({ type: 'percentage', percentage_off: '10' }));
  await peer.live('2026-11-01');
  const subscription = await peer.subscribe(await peer.plan(advance('100')), { coupons: ['OFF'] });
  await peer.live('2026-11-16');
  const path = `/v1/subscriptions/lineitems/${subscription.line_items[0].id}`;
  expect((await api.call('PUT', path, { body: { amount: '200' } })).status).toBe(200);
  // (200 - 20) / 2 less (100 - 10) / 2.
  const { items } = await api.make('/v1/invoices/search', { subscription_id: subscription.id });
  const proration = items.find((one: Answer) => one.billing_reason === 'PRORATION');
  expect(proration.total).toBe('45.00');
});
