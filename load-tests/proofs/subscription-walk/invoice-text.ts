import { moneyText } from '../pricing-oracle/money.js';
import { subtotalOf } from './model/change-plan.js';
import { CURRENCY } from './model/charges.js';
import type { ModelInvoice } from './model/life.js';
import type { Answer } from './walk-world.js';

/** An instant as answers have it. */
export const instantText = (at: number | null): string | null =>
  at === null ? null : new Date(at).toISOString();

/** An invoice of the model: its reason, its period, and what it comes to if it is final. */
export function modelText(invoice: ModelInvoice): string {
  const { reason, start, end, finalizeAt } = invoice;
  const named = [reason, instantText(start), instantText(end)].join(' ');
  if (finalizeAt !== null) return `${named} DRAFT`;
  return `${named} ${moneyText(CURRENCY, subtotalOf(invoice))}`;
}

/** The same of one of the product. */
export function productText(one: Answer): string {
  const named = [one.billing_reason, one.period_start, one.period_end].join(' ');
  return `${named} ${one.invoice_status === 'DRAFT' ? 'DRAFT' : one.subtotal}`;
}
