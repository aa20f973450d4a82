import { ZERO } from '../../contract/number/decimal.js';
import type { InstantMs } from '../../contract/instant.js';
import type { PlanRow } from '../declarations/catalog/plan.resource.js';
import type { AttachedCoupon } from '../declarations/coupons/coupon-association.resource.js';
import {
  customerToDto,
  type AnsweredCustomerRow,
} from '../declarations/customers/customer.resource.js';
import type { BillingReason } from '../declarations/invoices/invoice.resource.js';
import {
  subscriptionToDto,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import type { AssociatedTax } from '../declarations/taxes/tax-association.resource.js';
import type { InvoiceInputs, InvoiceResult } from '../domain/invoice/invoice.js';
import { documentCoupons, documentTaxes } from './document-adjustments.js';
import { documentLines } from './document-lines.js';
import { NEW_DRAFT, type InvoiceDocument, type InvoiceHeader } from './invoice-document.js';

/** An invoice as it was computed. */
export type Computation = {
  readonly inputs: InvoiceInputs;
  readonly invoice: InvoiceResult;
  readonly billingReason: BillingReason;
  /** Events received before this instant are included. */
  readonly dataUntil: InstantMs | null;
};

/** The records that an invoice names, as they were when it was computed. */
export type InvoiceParties = {
  /** Who pays it (docs/domain.md 29.3). */
  readonly customer: AnsweredCustomerRow;
  readonly subscription: SubscriptionRow;
  readonly plan: PlanRow;
  /** At least those that were applied. */
  readonly coupons: readonly AttachedCoupon[];
  /** At least those that were applied. */
  readonly taxes: readonly AssociatedTax[];
};

function headerOf(
  { inputs, invoice, billingReason, dataUntil }: Computation,
  { customer, subscription, plan }: InvoiceParties,
): InvoiceHeader {
  const { totals } = invoice;
  return {
    ...NEW_DRAFT,
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    invoice_type: 'SUBSCRIPTION',
    billing_reason: billingReason,
    billing_period: subscription.billing_period,
    customer_id: customer.id,
    subscription_id: subscription.id,
    subscription_customer_id: subscription.customer_id,
    currency: invoice.currency,
    due_date: invoice.dueMs,
    period_start: invoice.period.startMs,
    period_end: invoice.period.endMs,
    last_computed_at: inputs.asOfMs,
    data_until: dataUntil,
    subtotal: totals.subtotal.value,
    total: totals.total.value,
    total_discount: totals.totalDiscount.value,
    total_tax: totals.totalTax.value,
    total_prepaid_credits_applied: totals.totalPrepaidCreditsApplied.value,
    adjustment_amount: totals.adjustmentAmount.value,
    amount_due: totals.amountDue.value,
    amount_paid: totals.amountPaid.value,
    amount_remaining: totals.amountRemaining.value,
    overpaid_amount: totals.overpaidAmount.value,
    // Nothing is paid back of a draft.
    refunded_amount: ZERO,
    customer: customerToDto(customer),
    subscription: subscriptionToDto(subscription, plan),
  };
}

/**
 * The document of an invoice that was just computed: a draft, not stored. It holds everything that
 * answers about the invoice tell, so that no record is looked at again.
 */
export function writeDocument(computed: Computation, parties: InvoiceParties): InvoiceDocument {
  const { inputs, invoice } = computed;
  const lines = documentLines(invoice.lines, parties.plan);
  const taken = { lines, appliedAt: inputs.asOfMs };
  return {
    header: headerOf(computed, parties),
    lines,
    coupons: documentCoupons(invoice.couponApplications, parties.coupons, taken),
    taxes: documentTaxes(invoice.taxes, parties.taxes, inputs.asOfMs),
  };
}
