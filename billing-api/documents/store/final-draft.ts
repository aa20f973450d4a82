import { isDeepStrictEqual } from 'node:util';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { InvoiceResult } from '../../domain/invoice/invoice.js';
import { rowToJson, type Patch } from '../../records/resource.js';
import type { InvoiceHeader } from '../invoice-document.js';
import type { StoredParts } from './document-parts.js';

/** What is written of an invoice. */
export type InvoicePatch = Patch<(typeof INVOICES)['columns']>;

/** A locked draft, and how it stands after its last computation. */
export type FinalDraft = {
  readonly row: InvoiceRow;
  /** What a computation changes of the header (`computedMembers`). */
  readonly computed: InvoicePatch;
  readonly parts: StoredParts;
  /** What it was computed to just now, without wallets; absent where its lines were given. */
  readonly priced?: InvoiceResult;
  /** Its computation came to what is stored, so that its parts stayed as they were. */
  readonly isRepeated?: boolean;
  /** The number that a caller gave to it; taken from the series when absent. */
  readonly number?: string | null;
  /** It sells credits of a wallet: no credits pay it, and what it charges is not revenue. */
  readonly isFunding?: boolean;
};

/** What says when an invoice was computed, and not what came out. */
const WHEN = ['last_computed_at', 'data_until'] as const;

/** Whether a computation leaves a draft as it is: its parts, and each member but when it was. */
export function isLeftAsItIs({ row, computed, isRepeated = false }: FinalDraft): boolean {
  if (!isRepeated) return false;
  const before = rowToJson(INVOICES, row);
  const after = rowToJson(INVOICES, computed);
  const names = Object.keys(after).filter((name) => !WHEN.some((one) => one === name));
  return names.every((name) => isDeepStrictEqual(after[name], before[name]));
}

/**
 * The members of the header that a computation decides. The due date stays: the draft was made with
 * it, or PUT has changed it.
 */
export function computedMembers(header: InvoiceHeader): InvoicePatch {
  return {
    last_computed_at: header.last_computed_at,
    data_until: header.data_until,
    subtotal: header.subtotal,
    total: header.total,
    total_discount: header.total_discount,
    total_tax: header.total_tax,
    total_prepaid_credits_applied: header.total_prepaid_credits_applied,
    adjustment_amount: header.adjustment_amount,
    amount_due: header.amount_due,
    amount_paid: header.amount_paid,
    amount_remaining: header.amount_remaining,
    overpaid_amount: header.overpaid_amount,
    customer: header.customer,
    subscription: header.subscription,
  };
}
