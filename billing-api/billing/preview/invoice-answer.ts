import { formatInstant } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { customerToDto } from '../../declarations/customers/customer.resource.js';
import { formatMoney, zeroMoney } from '../../domain/money/money.js';
import { instantToDto } from '../../records/record-dto.js';
import { subscriptionToDto } from '../../declarations/subscriptions/subscription.resource.js';
import { adjustmentsToDto } from './adjustment-answer.js';
import type { WindowsPage } from '../explain/explained-windows.js';
import type { InvoiceDto } from './invoice-dto.js';
import { NOT_STORED, invoiceLineToDto } from './invoice-line-answer.js';
import type { InvoicePreview } from '../compute/compute-invoice.js';

type TotalsDto = Pick<
  InvoiceDto,
  | 'subtotal'
  | 'total'
  | 'total_discount'
  | 'total_tax'
  | 'total_prepaid_credits_applied'
  | 'adjustment_amount'
  | 'amount_due'
  | 'amount_paid'
  | 'amount_remaining'
  | 'overpaid_amount'
  | 'refunded_amount'
>;

function totalsToDto({ invoice: { totals, currency } }: InvoicePreview): TotalsDto {
  return {
    subtotal: formatMoney(totals.subtotal),
    total: formatMoney(totals.total),
    total_discount: formatMoney(totals.totalDiscount),
    total_tax: formatMoney(totals.totalTax),
    total_prepaid_credits_applied: formatMoney(totals.totalPrepaidCreditsApplied),
    adjustment_amount: formatMoney(totals.adjustmentAmount),
    amount_due: formatMoney(totals.amountDue),
    amount_paid: formatMoney(totals.amountPaid),
    amount_remaining: formatMoney(totals.amountRemaining),
    overpaid_amount: formatMoney(totals.overpaidAmount),
    refunded_amount: formatMoney(zeroMoney(currency)),
  };
}

/**
 * A computed invoice. It is not stored, so it has neither id nor number. When a page of windows is
 * given, every line explains its amount.
 */
export function invoicePreviewToDto(preview: InvoicePreview, page: WindowsPage | null): InvoiceDto {
  const { query, customer, invoice } = preview;
  const { subscription, related } = query.loaded;
  const plan = mustGet(related.plans, subscription.plan_id, 'the plan of a subscription');
  return {
    ...NOT_STORED,
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    invoice_number: null,
    invoice_type: 'SUBSCRIPTION',
    invoice_status: 'DRAFT',
    payment_status: 'INITIATED',
    billing_reason: 'SUBSCRIPTION_CYCLE',
    billing_period: subscription.billing_period,
    billing_sequence: null,
    customer_id: subscription.customer_id,
    customer: customerToDto(customer),
    subscription_id: subscription.id,
    subscription: subscriptionToDto(subscription, plan),
    subscription_customer_id: subscription.customer_id,
    currency: invoice.currency,
    description: null,
    issue_date: null,
    due_date: formatInstant(invoice.dueMs),
    finalized_at: null,
    paid_at: null,
    voided_at: null,
    period_start: formatInstant(invoice.period.startMs),
    period_end: formatInstant(invoice.period.endMs),
    last_computed_at: formatInstant(query.now),
    data_until: instantToDto(preview.dataUntil),
    ...totalsToDto(preview),
    invoice_pdf_url: null,
    idempotency_key: null,
    recalculated_invoice_id: null,
    version: 1,
    line_items: invoice.lines.map((line) => invoiceLineToDto(line, preview, page)),
    ...adjustmentsToDto(preview),
  };
}
