import { plain } from '../../contract/decimal.js';
import { formatInstant } from '../../contract/instant.js';
import { DUE_DAYS_DEFAULT, dueDateOf, netDaysOf } from '../domain/invoice/due-date.js';
import type { LineItem } from '../domain/invoice/line-item.js';
import type { CommitmentInfo, InvoiceLine } from '../domain/invoice/invoice.js';
import { formatMoney } from '../domain/money.js';
import type { InvoicePreview } from './preview-invoice.js';
import { instantToDto } from '../records/record-dto.js';
import type { CommitmentInfoDto } from '../subscriptions/commitment-dto.js';
import { customerToDto } from '../customers/customer.resource.js';
import { explanationToDto, type WindowsPage } from './explain/explanation-answer.js';
import type {
  InvoiceDto,
  InvoiceLineItemDto,
  UsageAnalyticsDto,
  UsageBreakdownDto,
} from './invoice-dto.js';
import { subscriptionToListDto } from '../subscriptions/subscription-answer.js';

function analyticsToDto(line: InvoiceLine, currency: string): UsageAnalyticsDto[] {
  return line.usageAnalytics.map((row) => ({
    source: row.source,
    usage: plain(row.usage),
    cost: formatMoney(row.cost, currency),
    percentage: plain(row.percentage),
    event_count: row.eventCount,
  }));
}

function breakdownToDto(line: InvoiceLine, currency: string): UsageBreakdownDto[] {
  return line.usageBreakdown.map((row) => ({
    usage: plain(row.usage),
    cost: formatMoney(row.cost, currency),
    percentage: plain(row.percentage),
    event_count: row.eventCount,
    grouped_by: { ...row.groupedBy },
  }));
}

/** Members that only a stored record has. */
const NOT_STORED = {
  id: null,
  metadata: {},
  status: 'published',
  created_at: null,
  created_by: null,
  updated_at: null,
  updated_by: null,
} as const;

type LineItemMembersDto = Pick<
  InvoiceLineItemDto,
  | 'subscription_line_item_id'
  | 'entity_type'
  | 'entity_id'
  | 'price_id'
  | 'price_type'
  | 'price_unit'
  | 'price_unit_id'
  | 'meter_id'
  | 'meter_display_name'
  | 'plan_display_name'
>;

/** Members of a line that is of the plan as a whole: a true-up. */
function planMembersToDto(planId: string): LineItemMembersDto {
  return {
    subscription_line_item_id: null,
    entity_type: 'plan',
    entity_id: planId,
    price_id: null,
    price_type: 'FIXED',
    price_unit: null,
    price_unit_id: null,
    meter_id: null,
    meter_display_name: null,
    plan_display_name: null,
  };
}

function itemMembersToDto(lineItem: LineItem): LineItemMembersDto {
  const { price, meter } = lineItem;
  return {
    subscription_line_item_id: lineItem.id,
    entity_type: lineItem.entityType,
    entity_id: lineItem.entityId,
    price_id: price.id,
    price_type: price.type,
    price_unit: price.priceUnitFigures?.priceUnit ?? null,
    price_unit_id: price.priceUnitFigures?.priceUnitId ?? null,
    meter_id: meter?.id ?? null,
    meter_display_name: meter?.displayName ?? null,
    plan_display_name: lineItem.planDisplayName,
  };
}

function commitmentInfoToDto(info: CommitmentInfo, currency: string): CommitmentInfoDto {
  return {
    type: info.type,
    amount: info.amount === null ? null : plain(info.amount),
    quantity: info.quantity === null ? null : plain(info.quantity),
    duration: info.duration,
    is_windowed: info.isWindowed,
    overage_factor: info.overageFactor === null ? null : plain(info.overageFactor),
    true_up_enabled: info.isTrueUpEnabled,
    computed_commitment_utilized_amount: formatMoney(info.utilized, currency),
    computed_overage_amount: formatMoney(info.overage, currency),
    computed_true_up_amount: formatMoney(info.trueUp, currency),
  };
}

function lineToDto(
  line: InvoiceLine,
  preview: InvoicePreview,
  page: WindowsPage | null,
): InvoiceLineItemDto {
  const { lineItem } = line;
  const { query, invoice } = preview;
  const { subscription } = query.loaded;
  const { currency } = invoice;
  return {
    ...NOT_STORED,
    invoice_id: null,
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    customer_id: subscription.customer_id,
    subscription_id: subscription.id,
    ...(lineItem === null ? planMembersToDto(subscription.plan_id) : itemMembersToDto(lineItem)),
    price_unit_amount: line.priceUnitAmount === null ? null : plain(line.priceUnitAmount),
    display_name: line.displayName,
    currency,
    quantity: plain(line.quantity),
    amount: formatMoney(line.amount, currency),
    adjusted_entitlement_quantity:
      line.adjustedEntitlementQuantity === null ? null : plain(line.adjustedEntitlementQuantity),
    period_start: formatInstant(line.period.startMs),
    period_end: formatInstant(line.period.endMs),
    invoice_level_discount: formatMoney(line.invoiceLevelDiscount, currency),
    line_item_discount: formatMoney(line.lineItemDiscount, currency),
    prepaid_credits_applied: formatMoney(line.prepaidCreditsApplied, currency),
    commitment_info:
      line.commitmentInfo === null ? null : commitmentInfoToDto(line.commitmentInfo, currency),
    usage_analytics: analyticsToDto(line, currency),
    usage_breakdown: breakdownToDto(line, currency),
    metadata: { ...line.metadata },
    ...(page === null ? {} : { explanation: explanationToDto(line, preview, page) }),
  };
}

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
    subtotal: formatMoney(totals.subtotal, currency),
    total: formatMoney(totals.total, currency),
    total_discount: formatMoney(totals.totalDiscount, currency),
    total_tax: formatMoney(totals.totalTax, currency),
    total_prepaid_credits_applied: formatMoney(totals.totalPrepaidCreditsApplied, currency),
    adjustment_amount: formatMoney(totals.adjustmentAmount, currency),
    amount_due: formatMoney(totals.amountDue, currency),
    amount_paid: formatMoney(totals.amountPaid, currency),
    amount_remaining: formatMoney(totals.amountRemaining, currency),
    overpaid_amount: formatMoney(totals.overpaidAmount, currency),
    refunded_amount: formatMoney(totals.amountPaid.times(0), currency),
  };
}

function dueDateToDto({ query, invoice }: InvoicePreview): string {
  const days = netDaysOf(query.loaded.subscription.payment_terms) ?? DUE_DAYS_DEFAULT;
  return formatInstant(dueDateOf(invoice.period, 'period_end', days));
}

/**
 * An invoice that is not stored: it has neither id nor number. With a page of windows every line
 * says how it came about.
 */
export function invoicePreviewToDto(preview: InvoicePreview, page: WindowsPage | null): InvoiceDto {
  const { query, customer, invoice } = preview;
  const { subscription, surroundings } = query.loaded;
  const shown = { expand: new Set<'customer' | 'plan'>(), withLineItems: false };
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
    subscription: subscriptionToListDto(subscription, surroundings, shown),
    subscription_customer_id: subscription.customer_id,
    currency: invoice.currency,
    description: null,
    issue_date: null,
    due_date: dueDateToDto(preview),
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
    line_items: invoice.lines.map((line) => lineToDto(line, preview, page)),
    coupon_applications: [],
    taxes: [],
  };
}
