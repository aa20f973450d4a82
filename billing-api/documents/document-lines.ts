import { committedAmountOf } from '../domain/invoice/committed-amount.js';
import type { InvoiceLine } from '../domain/invoice/invoice.js';
import type { LineItem } from '../domain/invoice/line-item.js';
import { NOT_STORED, type DocumentLine, type RecordIdentity } from './invoice-document.js';

type ItemMembers = RecordIdentity &
  Pick<
    DocumentLine,
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
function membersOfPlan(planId: string): ItemMembers {
  return {
    ...NOT_STORED,
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

function membersOfItem({ price, meter, ...item }: LineItem): ItemMembers {
  return {
    ...NOT_STORED,
    subscription_line_item_id: item.id,
    entity_type: item.entityType,
    entity_id: item.entityId,
    price_id: price.id,
    price_type: price.type,
    price_unit: price.priceUnitFigures?.priceUnit ?? null,
    price_unit_id: price.priceUnitFigures?.priceUnitId ?? null,
    meter_id: meter?.id ?? null,
    meter_display_name: meter?.displayName ?? null,
    plan_display_name: item.planDisplayName,
  };
}

function documentLine(line: InvoiceLine, position: number, planId: string): DocumentLine {
  const { lineItem, child } = line;
  return {
    ...(lineItem === null ? membersOfPlan(child?.planId ?? planId) : membersOfItem(lineItem)),
    invoice_id: null,
    subscription_id: child?.subscriptionId ?? null,
    late_invoice_id: line.late?.invoiceId ?? null,
    position,
    metadata: line.metadata,
    kind: line.kind,
    price_unit_amount: line.priceUnitAmount,
    display_name: line.displayName,
    quantity: line.quantity,
    amount: line.amount.value,
    committed_amount: committedAmountOf(line),
    adjusted_entitlement_quantity: line.adjustedEntitlementQuantity,
    period_start: line.period.startMs,
    period_end: line.period.endMs,
    invoice_level_discount: line.invoiceLevelDiscount.value,
    line_item_discount: line.lineItemDiscount.value,
    prepaid_credits_applied: line.prepaidCreditsApplied.value,
    commitment_info: line.commitmentInfo,
    usage_analytics: line.usageAnalytics,
    usage_breakdown: line.usageBreakdown,
    trace: line.trace,
  };
}

/** The lines of an invoice of this plan as they are stored, in their order. */
export function documentLines(
  lines: readonly InvoiceLine[],
  { id: planId }: { readonly id: string },
): readonly DocumentLine[] {
  return lines.map((line, position) => documentLine(line, position, planId));
}
