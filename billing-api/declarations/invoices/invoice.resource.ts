import type { CustomerDto } from '../customers/customer.resource.js';
import type { SubscriptionDto } from '../subscriptions/subscription.resource.js';
import { INVOICE, INVOICE_PAYMENT } from '../../domain/lifecycle/invoice-lifecycle.js';
import {
  flag,
  hidden,
  instant,
  integer,
  money,
  nullable,
  oneOf,
  raisedByChange,
  text,
  unaudited,
} from '../../records/columns.js';
import { defineResource, type NewRecord, type RecordOf } from '../../records/resource.js';
import { kept } from './value-columns.js';

const INVOICE_TYPES = ['SUBSCRIPTION', 'ONE_OFF', 'CREDIT'] as const;

/** Why an invoice is made (docs/domain.md 2.3). */
export const BILLING_REASONS = [
  'SUBSCRIPTION_CREATE',
  'SUBSCRIPTION_CYCLE',
  'SUBSCRIPTION_UPDATE',
  'SUBSCRIPTION_TRIAL_START',
  'SUBSCRIPTION_TRIAL_END',
  'PRORATION',
  'MANUAL',
  'AUTO_INVOICE_THRESHOLD',
  'WALLET_AUTO_TOPUP',
] as const;
export type BillingReason = (typeof BILLING_REASONS)[number];

const amount = money('currency');

export const INVOICES = defineResource({
  name: 'invoice',
  idPrefix: 'inv',
  table: 'invoices',
  columns: {
    invoice_number: nullable(text),
    /** From which the number was taken; null while there is none, and for one that was given. */
    number_series: hidden(nullable(text)),
    invoice_type: oneOf(INVOICE_TYPES),
    invoice_status: oneOf(INVOICE.states),
    payment_status: oneOf(INVOICE_PAYMENT.states),
    billing_reason: oneOf(BILLING_REASONS),
    billing_period: nullable(text),
    billing_sequence: nullable(integer),
    customer_id: text,
    subscription_id: nullable(text),
    subscription_customer_id: nullable(text),
    currency: text,
    description: nullable(text),
    issue_date: nullable(instant),
    due_date: nullable(instant),
    /** From when on a job finalizes the draft; null when only a call does. */
    finalize_at: hidden(nullable(instant)),
    finalized_at: nullable(instant),
    paid_at: nullable(instant),
    voided_at: nullable(instant),
    period_start: nullable(instant),
    period_end: nullable(instant),
    last_computed_at: instant,
    data_until: nullable(instant),
    subtotal: amount,
    total: amount,
    total_discount: amount,
    total_tax: amount,
    total_prepaid_credits_applied: amount,
    adjustment_amount: amount,
    amount_due: amount,
    amount_paid: amount,
    amount_remaining: amount,
    overpaid_amount: amount,
    refunded_amount: amount,
    is_manually_edited: flag,
    invoice_pdf_url: nullable(text),
    idempotency_key: nullable(text),
    recalculated_invoice_id: nullable(text),
    /** The parties as they were when the invoice was computed. */
    customer: unaudited(kept<CustomerDto>()),
    subscription: unaudited(kept<SubscriptionDto | null>()),
    version: raisedByChange(integer),
  },
  unique: { invoices_number: 'invoice_number' },
  removal: null,
  lifecycle: { column: 'invoice_status', of: INVOICE },
});
export type InvoiceRow = RecordOf<typeof INVOICES>;
export type NewInvoiceRow = NewRecord<(typeof INVOICES)['columns']>;
