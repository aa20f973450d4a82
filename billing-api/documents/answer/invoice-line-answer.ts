import { plain, type Decimal } from '../../../contract/number/decimal.js';
import type { CommitmentInfoDto } from '../../declarations/subscriptions/commitment-dto.js';
import type { CommitmentInfo } from '../../domain/invoice/invoice.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import { instantToDto } from '../../records/record-dto.js';
import {
  placeName,
  type DocumentLine,
  type InvoiceHeader,
  type RecordIdentity,
} from '../invoice-document.js';
import { explanationToDto } from './explanation-answer.js';
import type { WindowsPage } from './explained-windows.js';
import type { InvoiceLineItemDto, UsageAnalyticsDto, UsageBreakdownDto } from './invoice-dto.js';

function analyticsToDto(line: DocumentLine): UsageAnalyticsDto[] {
  return line.usage_analytics.map((row) => ({
    source: row.source,
    usage: plain(row.usage),
    cost: formatMoney(row.cost),
    percentage: plain(row.percentage),
    event_count: row.eventCount,
  }));
}

function breakdownToDto(line: DocumentLine): UsageBreakdownDto[] {
  return line.usage_breakdown.map((row) => ({
    usage: plain(row.usage),
    cost: formatMoney(row.cost),
    percentage: plain(row.percentage),
    event_count: row.eventCount,
    grouped_by: { ...row.groupedBy },
  }));
}

/** The members of a record. A document that is not stored has neither an id nor an author. */
export function identityToDto(part: RecordIdentity) {
  return {
    id: part.id,
    metadata: part.metadata,
    status: part.status,
    created_at: instantToDto(part.created_at),
    created_by: part.created_by,
    updated_at: instantToDto(part.updated_at),
    updated_by: part.updated_by,
  };
}

/** The commitment of a line with its computed figures. */
export function commitmentInfoToDto(info: CommitmentInfo): CommitmentInfoDto {
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

/** A line of an invoice; with a page of windows also its explanation. */
export function invoiceLineToDto(
  line: DocumentLine,
  header: InvoiceHeader,
  page: WindowsPage | null,
): InvoiceLineItemDto {
  const { currency } = header;
  const { price_unit_amount: inUnit, adjusted_entitlement_quantity: covered } = line;
  const money = (amount: Decimal): string => formatMoney(new Money(amount, currency));
  return {
    ...identityToDto(line),
    id: line.id ?? placeName(line.position),
    invoice_id: header.id,
    tenant_id: header.tenant_id,
    environment_id: header.environment_id,
    customer_id: header.customer_id,
    subscription_id: line.subscription_id ?? header.subscription_id,
    subscription_line_item_id: line.subscription_line_item_id,
    entity_type: line.entity_type,
    entity_id: line.entity_id,
    price_id: line.price_id,
    price_type: line.price_type,
    price_unit: line.price_unit,
    price_unit_id: line.price_unit_id,
    meter_id: line.meter_id,
    meter_display_name: line.meter_display_name,
    plan_display_name: line.plan_display_name,
    price_unit_amount: inUnit === null ? null : plain(inUnit),
    display_name: line.display_name,
    currency,
    quantity: plain(line.quantity),
    amount: money(line.amount),
    adjusted_entitlement_quantity: covered === null ? null : plain(covered),
    period_start: instantToDto(line.period_start),
    period_end: instantToDto(line.period_end),
    invoice_level_discount: money(line.invoice_level_discount),
    line_item_discount: money(line.line_item_discount),
    prepaid_credits_applied: money(line.prepaid_credits_applied),
    commitment_info:
      line.commitment_info === null ? null : commitmentInfoToDto(line.commitment_info),
    usage_analytics: analyticsToDto(line),
    usage_breakdown: breakdownToDto(line),
    ...(page === null ? {} : { explanation: explanationToDto(line, header, page) }),
  };
}
