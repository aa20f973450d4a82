import type { BillingUnderTest } from './billing-harness.js';
import type { Answer } from './money-test.js';

/** Pays what all invoices leave to be paid, as a transfer does. */
export async function payOpen(api: BillingUnderTest): Promise<void> {
  const { items } = await api.make('/v1/invoices/search', { limit: 1000 });
  const open = items.filter(
    (one: Answer) => one.invoice_status === 'FINALIZED' && Number(one.amount_remaining) > 0,
  );
  for (const { id, amount_remaining: amount } of open) {
    const body = { amount };
    const { status } = await api.call('PUT', `/v1/invoices/${id}/payment`, { body });
    if (status !== 200) throw new Error(`the invoice ${id} is not paid: ${status}`);
  }
}
