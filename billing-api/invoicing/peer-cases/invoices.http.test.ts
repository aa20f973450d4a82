import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import type { Answer } from '../../testing/money-test.js';
import { advance, arrear, test, usage } from '../../testing/peer-case.js';

async function taxOf(api: BillingUnderTest, percentage: string): Promise<string> {
  const code = `tax ${percentage}`;
  await api.make('/v1/taxes/rates', {
    name: code,
    code,
    tax_rate_type: 'percentage',
    percentage_value: percentage,
  });
  return code;
}

/** A coupon for every invoice, named by its figures. */
async function couponOf(api: BillingUnderTest, figures: object, code: string): Promise<string> {
  const cadence = 'forever';
  await api.make('/v1/coupons', { name: code, coupon_code: code, cadence, ...figures });
  return code;
}

const taxesOf = (codes: readonly string[]) =>
  codes.map((tax_rate_code, index) => ({ tax_rate_code, priority: index }));

const walletOf = (api: BillingUnderTest, credits: string): Promise<Answer> =>
  api.make('/v1/wallets', {
    external_customer_id: 'acme',
    currency: 'usd',
    initial_credits_to_load: credits,
    config: { allowed_price_types: ['ALL'] },
  });

/** An invoice that somebody writes for February. */
const byHand = ({ id, customer_id }: Answer) => ({
  subscription_id: id,
  customer_id,
  invoice_type: 'SUBSCRIPTION',
  currency: 'usd',
  billing_period: 'MONTHLY',
  subtotal: '40',
  total: '40',
  amount_due: '40',
  period_start: '2026-02-01T00:00:00Z',
  period_end: '2026-03-01T00:00:00Z',
  line_items: [{ display_name: 'By hand', amount: '40' }],
});

describe('taxes of other systems', () => {
  test('FP-17: several rates on 99.99 are rounded one by one (RND-5)', async ({ api, peer }) => {
    await peer.live('2026-01-01');
    const codes = await Promise.all(['8.875', '2.125', '0.5'].map((one) => taxOf(api, one)));
    const subscription = await peer.subscribe(await peer.plan(advance('99.99')), {
      tax_rate_overrides: taxesOf(codes),
    });
    const [invoice] = await peer.find(subscription);
    expect(invoice.taxes.map((one: Answer) => one.tax_amount)).toEqual(['8.87', '2.12', '0.50']);
    expect([invoice.total_tax, invoice.total]).toEqual(['11.49', '111.48']);
  });
});

describe('the order of an invoice', () => {
  test('FD-03: line coupon, coupon, wallet and tax make 70.78', async ({ api, peer }) => {
    await peer.live('2026-01-01');
    const meter = await peer.meter('call');
    const plan = await peer.plan(usage(meter, '1'), arrear('20'));
    const { items: prices } = await api.make('/v1/prices/search', { entity_ids: [plan.id] });
    const ofUsage = prices.find((one: Answer) => one.type === 'USAGE');
    const line = { type: 'percentage', percentage_off: '25' };
    const subscription = await peer.subscribe(plan, {
      line_item_coupons: { [ofUsage.id]: [await couponOf(api, line, 'LINE')] },
      coupons: [await couponOf(api, { type: 'fixed', amount_off: '10', currency: 'usd' }, 'TEN')],
      tax_rate_overrides: taxesOf([await taxOf(api, '8.25')]),
    });
    await walletOf(api, '5');
    await meter.use('2026-01-10', 80);
    await peer.live('2026-02-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    // 70.00 × 8.25 % is 5.775, which goes up.
    expect(invoice).toMatchObject({
      subtotal: '100.00',
      total_discount: '30.00',
      total_tax: '5.78',
      total_prepaid_credits_applied: '5.00',
      total: '70.78',
    });
  });

  test('LD-01: 50 and 20, a coupon of 10, 30 prepaid and 10 % tax make 36.00 (13.2)', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const ten = { type: 'fixed', amount_off: '10', currency: 'usd' };
    const coupons = [await couponOf(api, ten, 'TEN')];
    const tax_rate_overrides = taxesOf([await taxOf(api, '10')]);
    await walletOf(api, '30');
    const subscription = await peer.subscribe(await peer.plan(advance('50'), advance('20')), {
      coupons,
      tax_rate_overrides,
    });
    const [invoice] = await peer.find(subscription);
    expect(invoice).toMatchObject({
      subtotal: '70.00',
      total_discount: '10.00',
      total_tax: '6.00',
      total_prepaid_credits_applied: '30.00',
      total: '36.00',
    });
  });
});

describe('consolidation of other systems', () => {
  test('MT-19: grouped subscriptions are on one invoice, which uses credit, and gives it back, once', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const [first, second] = [await peer.plan(arrear('60')), await peer.plan(arrear('40'))];
    const child = await peer.subscribe(first);
    const parent = await peer.subscribe(second, {
      inheritance: { grouped_invoicing_child_ids: [child.id] },
    });
    await walletOf(api, '30');
    await peer.live('2026-02-01T02:00:00Z');
    expect(await peer.invoices(child)).toEqual([]);
    const [invoice, ...others] = await peer.find(parent);
    expect(others).toEqual([]);
    expect(invoice).toMatchObject({
      subtotal: '100.00',
      total_prepaid_credits_applied: '30.00',
      total: '70.00',
    });
    expect(await peer.credits()).toEqual(['0']);
    // No member waits for the payment of it: each has begun on an invoice of its own.
    const path = `/v1/invoices/${invoice.id}/void`;
    const voided = await api.call('POST', path, { body: {} });
    expect(voided.body).toMatchObject({ invoice_status: 'VOIDED', payment_status: 'REFUNDED' });
    expect(await peer.credits()).toEqual(['30']);
    expect((await api.call('POST', path, { body: {} })).status).toBe(400);
  });
});

describe('double billing of other systems', () => {
  test('KB-45: of two invoices for one period the second is refused, and no run makes one', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const subscription = await peer.subscribe(await peer.plan(arrear('60'), advance('40')));
    await peer.live('2026-02-01T02:00:00Z');
    const stored = await peer.invoices(subscription);
    expect(stored).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE 40.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE 100.00',
    ]);
    await peer.live('2026-02-01T03:00:00Z');
    expect(await peer.invoices(subscription)).toEqual(stored);
    const made = await api.call('POST', '/v1/invoices', { body: byHand(subscription) });
    expect(made.status).toBe(201);
    const again = await api.call('POST', '/v1/invoices', { body: byHand(subscription) });
    expect([again.status, again.body.message]).toEqual([
      409,
      expect.stringContaining(made.body.id),
    ]);
  });

  test('KB-45: where two invoices charge one period all the same, the next run bills nothing until one is voided', async ({
    api,
    database,
    peer,
  }) => {
    await peer.live('2026-01-01');
    const plan = await peer.plan(arrear('60'), advance('40'));
    const [subscription, other] = [await peer.subscribe(plan), await peer.subscribe(plan)];
    await peer.live('2026-02-01T02:00:00Z');
    const charge = (await peer.find(subscription))[1].line_items.find(
      (line: Answer) => line.amount === '40.00',
    );
    const made = await api.make('/v1/invoices', byHand(subscription));
    // Nothing of the interface can do this.
    await ownerOf(database.database).query(sql.type(noRows)`
      UPDATE invoice_line_items AS line
      SET subscription_line_item_id = twice.subscription_line_item_id, price_id = twice.price_id,
        price_type = twice.price_type, period_start = twice.period_start,
        period_end = twice.period_end
      FROM invoice_line_items AS twice
      WHERE twice.id = ${charge.id} AND line.invoice_id = ${made.id}`);
    const before = await peer.invoices(subscription);
    await peer.live('2026-03-01T02:00:00Z');
    expect(await peer.invoices(subscription)).toEqual(before);
    // Others are billed.
    expect(await peer.invoices(other)).toHaveLength(3);
    const preview = await api.call('POST', `/v1/subscriptions/${subscription.id}/cancel`, {
      body: { cancel_at: '2026-03-01T00:00:00Z' },
    });
    expect([preview.status, preview.body.message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`${made.id}.*; void one of them`)),
    ]);
    await api.call('POST', `/v1/invoices/${made.id}/void`, { body: {} });
    await peer.live('2026-03-01T09:00:00Z');
    expect((await peer.invoices(subscription)).at(-1)).toBe(
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE 100.00',
    );
  });
});
