import { expect } from 'vitest';
import { Decimal } from '../../../contract/number/decimal.js';
import { KnownCustomers } from '../../customers/known-customers.js';
import { assertPresent } from '../../../runtime/failure.js';
import { buildInvoice } from '../../domain/invoice/pricing/build-invoice.js';
import { accept, isRefusal } from '../../records/refusal.js';
import { test } from '../../testing/billing-test.js';
import { testOccasion } from '../../testing/test-occasion.js';
import { createUsageReader } from '../../usage/store/usage-reader.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import { findPreviewQueries } from '../preview/preview-invoice.js';
import { computeInvoice } from './compute-invoice.js';
import { documentOfComputed } from './document-of-computed.js';
import type { InvoicePurpose } from './invoice-purpose.js';

/** Its opening invoice has taken the coupon; here each purpose says itself what was taken. */
const UNCOUNTED = { couponApplicationCounts: new Map<string, number>() };
const OCTOBER = { startMs: Date.parse('2026-10-01'), endMs: Date.parse('2026-11-01') };

test('the purpose of a computation says which lines it takes, what was invoiced and applied before, and which wallets pay', async ({
  api,
  database,
  clickhouse,
}) => {
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const price = { entity_id: plan.id, currency: 'usd', amount: '100' };
  const arrear = await api.make('/v1/prices', { ...price, invoice_cadence: 'ARREAR' });
  await api.make('/v1/prices', { ...price, amount: '30', invoice_cadence: 'ADVANCE' });
  await api.make('/v1/customers', { external_id: 'acme' });
  await api.make('/v1/coupons', {
    name: 'Once',
    coupon_code: 'ONCE',
    type: 'fixed',
    amount_off: '10',
    currency: 'usd',
    cadence: 'once',
  });
  const subscription = await api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00.000Z',
    coupons: ['ONCE'],
  });
  const [association] = (await api.call('GET', `/v1/subscriptions/${subscription.id}`)).body
    .coupon_associations;
  const [item] = subscription.line_items.filter(
    (line: { readonly price_id: string }) => line.price_id === arrear.id,
  );
  const compute = async (purpose: Partial<InvoicePurpose>) => {
    const computed = await computeInvoice(
      {
        database: database.database,
        usage: createUsageReader(clickhouse.client),
        dataUntil: () => Promise.resolve(null),
        knownCustomers: new KnownCustomers(),
        clock: { now: () => Date.parse('2026-10-20') },
      },
      testOccasion({ environment: api.environment, userId: 'user' }),
      async (unit) => {
        const [query] = await findPreviewQueries(unit, [{ subscription_id: subscription.id }]);
        const preview = accept(assertPresent(query, 'the only query'));
        return { ...preview, purpose: { ...preview.purpose, ...UNCOUNTED, ...purpose } };
      },
    );
    if (isRefusal(computed)) throw new Error(computed.message);
    // Its inputs alone give the same invoice.
    expect(buildInvoice(computed.inputs)).toEqual(computed.invoice);
    const answer = invoiceToDto(documentOfComputed(computed), null);
    const { subtotal, total_discount: discount, total, due_date: due } = answer;
    return [subtotal, discount, answer.total_prepaid_credits_applied, total, due?.slice(0, 10)];
  };
  expect(await compute({})).toEqual(['130.00', '10.00', '0.00', '120.00', '2026-11-02']);
  expect(await compute({ referencePoint: 'period_start', dueDays: 7 })).toEqual([
    '30.00',
    '10.00',
    '0.00',
    '20.00',
    '2026-10-08',
  ]);
  const billed = { invoiceId: 'inv_1', lineItemId: item.id, priceId: arrear.id, period: OCTOBER };
  expect(await compute({ alreadyInvoiced: [billed] })).toEqual([
    '30.00',
    '10.00',
    '0.00',
    '20.00',
    '2026-11-02',
  ]);
  const wallet = { id: 'wallet_1', balance: new Decimal(40), createdAtMs: 0 };
  expect(await compute({ wallets: [{ ...wallet, allowedPriceTypes: ['ALL'] }] })).toEqual([
    '130.00',
    '10.00',
    '40.00',
    '80.00',
    '2026-11-02',
  ]);
  const couponApplicationCounts = new Map([[association.id as string, 1]]);
  expect((await compute({ couponApplicationCounts }))[1]).toBe('0.00');
});
