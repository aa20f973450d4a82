import { priceInvoice } from '../../domain/invoice/build/build-invoice.js';
import { DUE_DAYS_DEFAULT, netDaysOf } from '../../domain/invoice/build/due-date.js';
import type { InvoiceResult } from '../../domain/invoice/invoice.js';
import type { InvoiceQuery } from './invoice-query.js';
import type { InvoicePlan } from './plan-invoice.js';
import type { UsageOfLines } from './read-line-usage.js';

/** Prices the planned lines with what was read of them. Reads nothing. */
export function priceLines(
  { inputs, lines, adjustments }: InvoicePlan,
  usage: UsageOfLines,
  { loaded, now, hideZeroCharges }: InvoiceQuery,
): InvoiceResult {
  // No invoice is stored yet, and wallets cannot be created yet.
  const none = { priorCommitments: [], wallets: [] };
  const dueDays = netDaysOf(loaded.subscription.payment_terms) ?? DUE_DAYS_DEFAULT;
  const shown = { asOfMs: now, dueDays, hideZeroCharges };
  return priceInvoice(lines, { ...inputs, ...adjustments, ...none, ...shown, usage });
}
