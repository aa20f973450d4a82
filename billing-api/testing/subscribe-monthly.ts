import type { BillingUnderTest } from './billing-harness.js';

/**
 * A subscription of 100 usd in arrear and 30 in advance a month, from October 2026 on, with its
 * customer `acme`.
 */
export async function subscribeMonthly(
  api: BillingUnderTest,
  members: Readonly<Record<string, unknown>> = {},
) {
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const price = { entity_id: plan.id, currency: 'usd' };
  const arrear = await api.make('/v1/prices', {
    ...price,
    amount: '100',
    invoice_cadence: 'ARREAR',
  });
  await api.make('/v1/prices', { ...price, amount: '30', invoice_cadence: 'ADVANCE' });
  const customer = await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
  const subscription = await api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00.000Z',
    ...members,
  });
  return { customer, plan, arrear, subscription };
}
