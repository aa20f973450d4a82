import type {
  CommitmentInfo,
  UsageAnalyticsRow,
  UsageBreakdownRow,
} from '../../domain/invoice/invoice.js';
import type { LineTrace } from '../../domain/invoice/line-trace.js';
import { PRICE_TYPES } from '../../domain/price/price-cadence.js';
import { instant, integer, nullable, oneOf, text } from '../../records/columns.js';
import { defineResource, type RecordOf } from '../../records/resource.js';
import { figure, kept } from './value-columns.js';

/** A line of an invoice. Its amounts are of the currency of the invoice. */
export const INVOICE_LINES = defineResource({
  name: 'invoice line',
  idPrefix: 'inv_line',
  table: 'invoice_line_items',
  columns: {
    invoice_id: nullable(text),
    /** Of a grouped child; null where it is that of the invoice (docs/domain.md 29.2). */
    subscription_id: nullable(text),
    /** The invoice whose period had usage that came late; null for other lines (13.8). */
    late_invoice_id: nullable(text),
    /** The place of the line among those of its invoice, from 0. */
    position: integer,
    kind: oneOf(['charge', 'overage', 'true_up', 'credit']),
    subscription_line_item_id: nullable(text),
    entity_type: oneOf(['plan', 'addon', 'subscription', 'invoice']),
    entity_id: text,
    price_id: nullable(text),
    price_type: oneOf(PRICE_TYPES),
    price_unit: nullable(text),
    price_unit_id: nullable(text),
    price_unit_amount: nullable(figure),
    meter_id: nullable(text),
    meter_display_name: nullable(text),
    plan_display_name: nullable(text),
    display_name: text,
    quantity: figure,
    amount: figure,
    /** What the line used of a commitment, which later invoices have less (docs/domain.md 11.2). */
    committed_amount: nullable(figure),
    adjusted_entitlement_quantity: nullable(figure),
    period_start: nullable(instant),
    period_end: nullable(instant),
    invoice_level_discount: figure,
    line_item_discount: figure,
    prepaid_credits_applied: figure,
    commitment_info: kept<CommitmentInfo | null>(),
    usage_analytics: kept<readonly UsageAnalyticsRow[]>(),
    usage_breakdown: kept<readonly UsageBreakdownRow[]>(),
    /** The steps that led to the amount (docs/domain.md 13.6). */
    trace: kept<LineTrace>(),
  },
  removal: null,
  isAudited: false,
});
export type InvoiceLineRow = RecordOf<typeof INVOICE_LINES>;
