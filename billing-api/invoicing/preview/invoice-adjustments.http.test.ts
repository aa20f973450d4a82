import { describe, expect } from 'vitest';
import { test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { makePricedPlan, numbersAt } from '../../testing/priced-plan.js';

/*
 * The worked examples of docs/domain.md 13.2, 14 and 15: coupons and taxes made by calls, seen on a
 * preview to the cent.
 */

type Json = Readonly<Record<string, unknown>>;

const START = '2026-10-01T00:00:00.000Z';
const NOW = '2026-10-20T12:00:00.000Z';

/** A plan with one FIXED price of each amount, and the customer `acme`. */
async function makePlan(
  api: BillingUnderTest,
  amounts: readonly string[],
): Promise<{ readonly planId: string; readonly priceIds: readonly string[] }> {
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const priceIds: string[] = [];
  for (const amount of amounts) {
    const terms = { entity_id: plan.id, currency: 'usd', invoice_cadence: 'ARREAR', amount };
    priceIds.push((await api.make('/v1/prices', terms)).id as string);
  }
  await api.call('POST', '/v1/customers', { body: { external_id: 'acme' } });
  return { planId: plan.id, priceIds };
}

async function subscribe(
  api: BillingUnderTest,
  planId: string,
  members: object = {},
): Promise<string> {
  const subscription = await api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: START,
    ...members,
  });
  return subscription.id as string;
}

const preview = (api: BillingUnderTest, subscriptionId: string, members: object = {}) =>
  api.make('/v1/invoices/preview', { subscription_id: subscriptionId, ...members });

type Coupon = { readonly code: string; readonly off: string };

const percentage = (api: BillingUnderTest, { code, off }: Coupon, members: object = {}) =>
  api.make('/v1/coupons', {
    name: code,
    coupon_code: code,
    type: 'percentage',
    percentage_off: off,
    cadence: 'forever',
    ...members,
  });

const fixed = (api: BillingUnderTest, { code, off }: Coupon) =>
  api.make('/v1/coupons', {
    name: code,
    coupon_code: code,
    type: 'fixed',
    amount_off: off,
    currency: 'usd',
    cadence: 'forever',
  });

const membersOf = (items: readonly Json[], ...names: readonly string[]) =>
  items.map((item) => names.map((name) => item[name]));

describe('POST /invoices/preview with coupons', () => {
  test('takes line coupons from the full line, and never more than the line', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { planId, priceIds } = await makePlan(api, ['80']);
    const [priceId = ''] = priceIds;
    for (const code of ['TEN', 'SIXTY', 'SIXTY-TOO']) {
      await percentage(api, { code, off: code === 'TEN' ? '10' : '60' });
    }
    await fixed(api, { code: 'FIVE', off: '5' });
    const on = async (...codes: readonly string[]) => {
      const id = await subscribe(api, planId, { line_item_coupons: { [priceId]: codes } });
      const invoice = await preview(api, id, { explain: true });
      const shown = membersOf(invoice.coupon_applications, 'original_price', 'discounted_amount');
      return { invoice, shown };
    };
    const both = await on('TEN', 'FIVE');
    expect(both.shown).toEqual([
      ['80.00', '8.00'],
      ['80.00', '5.00'],
    ]);
    expect(both.invoice).toMatchObject({
      subtotal: '80.00',
      total_discount: '13.00',
      total: '67.00',
      line_items: [{ line_item_discount: '13.00', invoice_level_discount: '0.00' }],
    });
    const all = await on('SIXTY', 'SIXTY-TOO');
    expect(all.shown).toEqual([
      ['80.00', '48.00'],
      ['80.00', '32.00'],
    ]);
    expect([all.invoice.total_discount, all.invoice.total]).toEqual(['80.00', '0.00']);
    const [line] = all.invoice.line_items;
    const associations = membersOf(all.invoice.coupon_applications, 'coupon_association_id');
    expect(line.explanation.discounts).toEqual([
      { coupon_association_id: associations[0]?.[0], base: '80.00', amount: '48.00' },
      { coupon_association_id: associations[1]?.[0], base: '80.00', amount: '32.00' },
    ]);
  });

  test('splits an invoice coupon over the lines to the cent', async ({ api, clock }) => {
    clock.set(NOW);
    await fixed(api, { code: 'TEN', off: '10' });
    const discounts = async (...amounts: readonly string[]) => {
      const { planId } = await makePlan(api, amounts);
      const invoice = await preview(api, await subscribe(api, planId, { coupons: ['TEN'] }));
      expect(invoice.total_discount).toBe('10.00');
      return membersOf(invoice.line_items, 'invoice_level_discount').flat();
    };
    expect(await discounts('80', '20')).toEqual(['8.00', '2.00']);
    expect(await discounts('10', '10', '10')).toEqual(['3.34', '3.33', '3.33']);
  });

  test('computes each invoice coupon from what earlier ones left, and says so', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { planId } = await makePlan(api, ['80', '20']);
    const half = await percentage(api, { code: 'HALF', off: '50' });
    await fixed(api, { code: 'SIXTY', off: '60' });
    await percentage(api, { code: 'NOTHING-LEFT', off: '10' });
    const codes = ['HALF', 'SIXTY', 'NOTHING-LEFT'];
    const id = await subscribe(api, planId, { coupons: codes });
    const { coupon_associations: held } = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    const invoice = await preview(api, id);
    expect(invoice.coupon_applications[0]).toEqual({
      id: null,
      coupon_id: half.id,
      coupon_association_id: held[0].id,
      coupon_snapshot: {
        name: 'HALF',
        coupon_code: 'HALF',
        type: 'percentage',
        cadence: 'forever',
        amount_off: null,
        percentage_off: '50',
        currency: null,
        duration_in_periods: null,
      },
      invoice_id: null,
      invoice_line_item_id: null,
      subscription_id: id,
      currency: 'usd',
      discount_type: 'percentage',
      discount_percentage: '50',
      discounted_amount: '50.00',
      original_price: '100.00',
      final_price: '50.00',
      applied_at: NOW,
      metadata: {},
      status: 'published',
      // What only typed clients want (docs/http.md 18).
      tenant_id: api.environment.tenantId,
      environment_id: api.environment.environmentId,
      created_at: null,
      created_by: null,
      updated_at: null,
      updated_by: null,
    });
    // A fixed coupon takes what is left; a discount of 0 has no application (docs/domain.md 14.8).
    const members = ['discount_type', 'original_price', 'discounted_amount', 'final_price'];
    expect(membersOf(invoice.coupon_applications.slice(1), ...members)).toEqual([
      ['fixed', '50.00', '50.00', '0.00'],
    ]);
    expect(invoice.coupon_applications[1].discount_percentage).toBeNull();
  });

  test('counts a coupon for its periods only, also when nobody else can redeem it any more', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { planId } = await makePlan(api, ['80']);
    const repeated = { cadence: 'repeated', duration_in_periods: 2 };
    const ends = { redeem_before: '2026-10-21T00:00:00Z', max_redemptions: 1 };
    const coupon = await percentage(api, { code: 'TWO', off: '10' }, { ...repeated, ...ends });
    const id = await subscribe(api, planId, { coupons: ['TWO'] });
    await api.call('DELETE', `/v1/coupons/${coupon.id}`);
    clock.set('2026-11-20T00:00:00Z');
    const discountOf = async (start: string, end: string) => {
      const period = { period_start: `${start}T00:00:00Z`, period_end: `${end}T00:00:00Z` };
      return (await preview(api, id, period)).total_discount as string;
    };
    expect(await discountOf('2026-10-01', '2026-11-01')).toBe('8.00');
    expect(await discountOf('2026-11-01', '2026-12-01')).toBe('8.00');
    expect(await discountOf('2026-12-01', '2027-01-01')).toBe('0.00');
  });

  test('discounts a line of usage, and a line without an amount not at all', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set(NOW);
    const meter = { type: 'SUM', field: 'n' } as const;
    const plan = await makePricedPlan(
      api,
      { database, clickhouse },
      { meter, price: { amount: '1' } },
    );
    const owner = { entity_id: plan.planId, currency: 'usd', invoice_cadence: 'ARREAR' };
    await api.make('/v1/prices', { ...owner, amount: '0' });
    await plan.count(numbersAt(['05T10:00:00', '33.33']));
    await fixed(api, { code: 'TEN', off: '10' });
    await percentage(api, { code: 'THIRD', off: '33.333' });
    const id = await plan.subscribe({
      coupons: ['TEN'],
      line_item_coupons: { [plan.priceId]: ['THIRD'] },
    });
    const invoice = await preview(api, id);
    const members = ['amount', 'line_item_discount', 'invoice_level_discount'];
    expect(membersOf(invoice.line_items, ...members)).toEqual([
      ['33.33', '11.11', '10.00'],
      ['0.00', '0.00', '0.00'],
    ]);
    expect(invoice.total).toBe('12.22');
  });
});

describe('POST /invoices/preview with taxes', () => {
  const rate = (api: BillingUnderTest, code: string, members: object) =>
    api.make('/v1/taxes/rates', { name: code, code, ...members });
  const associate = (api: BillingUnderTest, code: string, members: object) =>
    api.make('/v1/taxes/associations', { tax_rate_code: code, ...members });

  test('taxes what discounts leave (docs/domain.md 13.2)', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set(NOW);
    const meter = { type: 'SUM', field: 'n' } as const;
    const engines = { database, clickhouse };
    const plan = await makePricedPlan(api, engines, { meter, price: { amount: '1' } });
    const owner = { entity_id: plan.planId, currency: 'usd', invoice_cadence: 'ARREAR' };
    await api.make('/v1/prices', { ...owner, amount: '50' });
    await plan.count(numbersAt(['05T10:00:00', '100']));
    await percentage(api, { code: 'TEN', off: '10' });
    const vat = await rate(api, 'VAT', { percentage_value: '20' });
    const customer = (await api.call('GET', '/v1/customers/external/acme')).body;
    const association = await associate(api, 'VAT', { external_customer_id: 'acme' });
    const invoice = await preview(api, await plan.subscribe({ coupons: ['TEN'] }));
    const members = ['amount', 'invoice_level_discount'];
    expect(membersOf(invoice.line_items, ...members)).toEqual([
      ['100.00', '10.00'],
      ['50.00', '5.00'],
    ]);
    expect(invoice).toMatchObject({
      subtotal: '150.00',
      total_discount: '15.00',
      total_tax: '27.00',
      total: '162.00',
      amount_due: '162.00',
      amount_remaining: '162.00',
    });
    expect(invoice.taxes).toEqual([
      {
        id: null,
        entity_type: 'customer',
        entity_id: customer.id,
        tax_rate_id: vat.id,
        tax_rate: vat,
        tax_association_id: association.id,
        taxable_amount: '135.00',
        tax_amount: '27.00',
        currency: 'usd',
        applied_at: NOW,
        idempotency_key: null,
        metadata: {},
        status: 'published',
        tenant_id: api.environment.tenantId,
        environment_id: api.environment.environmentId,
        created_at: null,
        created_by: null,
        updated_at: null,
        updated_by: null,
      },
    ]);
  });

  test('takes the most specific level that has any, in the order of priority, a rate once', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { planId } = await makePlan(api, ['33.33']);
    for (const value of ['7', '9', '20']) await rate(api, `T${value}`, { percentage_value: value });
    await rate(api, 'LEVY', { fixed_value: '1.005' });
    const plain = await subscribe(api, planId);
    const own = await subscribe(api, planId, {
      tax_rate_overrides: [
        { tax_rate_code: 'T20' },
        { tax_rate_code: 'T9', priority: 1 },
        { tax_rate_code: 'T9', priority: 2, currency: 'usd' },
      ],
    });
    const taxesOf = async (id: string) => {
      const { taxes, total_tax: total } = await preview(api, id);
      return [...membersOf(taxes, 'entity_type', 'tax_amount'), total];
    };
    expect(await taxesOf(plain)).toEqual(['0.00']);
    await associate(api, 'T7', { entity_type: 'tenant' });
    await associate(api, 'LEVY', { entity_type: 'tenant', auto_apply: false });
    expect(await taxesOf(plain)).toEqual([['tenant', '2.33'], '2.33']);
    const ofCustomer = { external_customer_id: 'acme', priority: 5 };
    const levy = await associate(api, 'LEVY', ofCustomer);
    expect(await taxesOf(plain)).toEqual([['customer', '1.01'], '1.01']);
    // Not compounded: each of the same amount.
    const both = [['subscription', '3.00'], ['subscription', '6.67'], '9.67'];
    expect(await taxesOf(own)).toEqual(both);
    await api.call('DELETE', `/v1/taxes/associations/${levy.id}`);
    expect(await taxesOf(plain)).toEqual([['tenant', '2.33'], '2.33']);
    const overrides = { tax_rate_overrides: [{ tax_rate_code: 'T9' }] };
    await api.call('PUT', '/v1/customers?external_customer_id=acme', { body: overrides });
    expect(await taxesOf(plain)).toEqual([['customer', '3.00'], '3.00']);
  });

  test('takes a rate while it is ACTIVE, in its currency and within its dates', async ({
    api,
    clock,
  }) => {
    clock.set(NOW);
    const { planId } = await makePlan(api, ['100']);
    const { id: rateId } = await rate(api, 'VAT', { percentage_value: '20' });
    await rate(api, 'EURO', { percentage_value: '1' });
    await rate(api, 'ENDED', { percentage_value: '2' });
    await rate(api, 'LATER', { percentage_value: '3' });
    await rate(api, 'NOW', { percentage_value: '4' });
    const id = await subscribe(api, planId, {
      tax_rate_overrides: [
        { tax_rate_code: 'VAT', priority: 1 },
        { tax_rate_code: 'EURO', currency: 'eur' },
      ],
    });
    const dated = { entity_type: 'subscription', entity_id: id };
    await associate(api, 'ENDED', { ...dated, end_date: NOW });
    await associate(api, 'LATER', { ...dated, start_date: '2026-10-20T12:00:00.001Z' });
    await associate(api, 'NOW', {
      ...dated,
      start_date: NOW,
      end_date: '2026-10-20T12:00:00.001Z',
    });
    const taxesOf = async (): Promise<unknown[]> =>
      membersOf((await preview(api, id)).taxes, 'tax_amount').flat();
    expect(await taxesOf()).toEqual(['20.00', '4.00']);
    const put = (body: object) => api.call('PUT', `/v1/taxes/rates/${rateId}`, { body });
    await put({ tax_rate_status: 'INACTIVE' });
    expect(await taxesOf()).toEqual(['4.00']);
    await put({ tax_rate_status: 'ACTIVE' });
    expect(await taxesOf()).toEqual(['20.00', '4.00']);
  });

  test('taxes nothing where discounts leave nothing', async ({ api, clock }) => {
    clock.set(NOW);
    const { planId } = await makePlan(api, ['100']);
    await rate(api, 'LEVY', { fixed_value: '5' });
    await percentage(api, { code: 'ALL', off: '100' });
    const members = { coupons: ['ALL'], tax_rate_overrides: [{ tax_rate_code: 'LEVY' }] };
    const invoice = await preview(api, await subscribe(api, planId, members));
    expect(membersOf(invoice.taxes, 'taxable_amount', 'tax_amount')).toEqual([['0.00', '0.00']]);
    expect([invoice.total_tax, invoice.total]).toEqual(['0.00', '0.00']);
  });
});
