import { sql } from 'slonik';
import { z } from 'zod';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { Unit } from '../../records/unit.js';
import { activateIncomplete } from '../../subscriptions/activate-incomplete.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** Reasons of the invoice with which what a subscription charges begins. */
export const FIRST_REASONS = [
  'SUBSCRIPTION_CREATE',
  'SUBSCRIPTION_UPDATE',
  'SUBSCRIPTION_TRIAL_END',
];

const isPaid = ({ payment_status: status }: InvoiceRow): boolean =>
  status === 'SUCCEEDED' || status === 'OVERPAID';

/**
 * Activates the subscription of an invoice that is paid, when it waited for that: when the invoice
 * is its first that was not voided (docs/domain.md 5.1).
 */
export async function activatePaid(unit: Unit, invoice: InvoiceRow): Promise<void> {
  const { id, subscription_id: subscriptionId, billing_reason: reason } = invoice;
  if (subscriptionId === null || !isPaid(invoice) || !FIRST_REASONS.includes(reason)) return;
  const isLater = await unit.tx.exists(sql.type(z.unknown())`
    SELECT FROM invoices
    WHERE subscription_id = ${subscriptionId} AND id <> ${id} AND ${rowIsIn(['invoice_status'], INVOICE, 'claimed')}
      AND billing_reason = ANY (${sql.array(FIRST_REASONS, 'text')})
      AND billing_sequence < ${invoice.billing_sequence} AND ${isOfEnvironment}`);
  if (isLater) return;
  await activateIncomplete(unit, subscriptionId);
}
