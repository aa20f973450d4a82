import { plain } from '../../../contract/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import type { CommitmentInfo, InvoiceLine } from '../../domain/invoice/invoice.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import { formatMoney } from '../../domain/money/money.js';
import type { CommitmentInfoDto } from '../../declarations/subscriptions/commitment-dto.js';
import { explanationToDto } from '../explain/explanation-answer.js';
import type { WindowsPage } from '../explain/explained-windows.js';
import type { InvoiceLineItemDto, UsageAnalyticsDto, UsageBreakdownDto } from './invoice-dto.js';
import type { InvoicePreview } from '../compute/compute-invoice.js';

function analyticsToDto(line: InvoiceLine): UsageAnalyticsDto[] {
  return line.usageAnalytics.map((row) => ({
    source: row.source,
    usage: plain(row.usage),
    cost: formatMoney(row.cost),
    percentage: plain(row.percentage),
    event_count: row.eventCount,
  }));
}

function breakdownToDto(line: InvoiceLine): UsageBreakdownDto[] {
  return line.usageBreakdown.map((row) => ({
    usage: plain(row.usage),
    cost: formatMoney(row.cost),
    percentage: plain(row.percentage),
    event_count: row.eventCount,
    grouped_by: { ...row.groupedBy },
  }));
}

/** Values of the members that only a stored record has. */
export const NOT_STORED = {
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

/** The members of a true-up, which belongs to the plan as a whole. */
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

function commitmentInfoToDto(info: CommitmentInfo): CommitmentInfoDto {
  return {
    type: info.type,
    amount: info.amount === null ? null : plain(info.amount),
    quantity: info.quantity === null ? null : plain(info.quantity),
    duration: info.duration,
    is_windowed: info.isWindowed,
    overage_factor: info.overageFactor === null ? null : plain(info.overageFactor),
    true_up_enabled: info.isTrueUpEnabled,
    computed_commitment_utilized_amount: formatMoney(info.utilized),
    computed_overage_amount: formatMoney(info.overage),
    computed_true_up_amount: formatMoney(info.trueUp),
  };
}

/** A line of an invoice that is not stored; with a page of windows also its explanation. */
export function invoiceLineToDto(
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
    amount: formatMoney(line.amount),
    adjusted_entitlement_quantity:
      line.adjustedEntitlementQuantity === null ? null : plain(line.adjustedEntitlementQuantity),
    period_start: formatInstant(line.period.startMs),
    period_end: formatInstant(line.period.endMs),
    invoice_level_discount: formatMoney(line.invoiceLevelDiscount),
    line_item_discount: formatMoney(line.lineItemDiscount),
    prepaid_credits_applied: formatMoney(line.prepaidCreditsApplied),
    commitment_info: line.commitmentInfo === null ? null : commitmentInfoToDto(line.commitmentInfo),
    usage_analytics: analyticsToDto(line),
    usage_breakdown: breakdownToDto(line),
    metadata: { ...line.metadata },
    ...(page === null ? {} : { explanation: explanationToDto(line, preview, page) }),
  };
}
