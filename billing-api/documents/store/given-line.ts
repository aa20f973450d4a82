import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { Proration } from '../../domain/calendar/proration.js';
import { minorDigitsOf } from '../../domain/money/minor-digits.js';
import { Money } from '../../domain/money/money.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { NOT_STORED, type DocumentLine } from '../invoice-document.js';

/** A line whose amount a request gives. */
export type GivenLineTerms = {
  readonly displayName: string;
  /** With no finer digits than the currency has. */
  readonly amount: Decimal;
  readonly quantity: Decimal;
  readonly priceId: string | null;
  readonly period: Interval | null;
  readonly metadata: MetadataDto;
  /** The line item that it charges; absent where it charges none. */
  readonly item?: GivenLineItem;
};

/** A line item that a given line charges, and the share of a full charge that it is. */
export type GivenLineItem = Pick<
  DocumentLine,
  'subscription_line_item_id' | 'entity_type' | 'entity_id' | 'plan_display_name'
> & { readonly exact: Decimal; readonly proration: Proration };

/** What a line belongs to, in place of its invoice. */
function ownersOf(item: GivenLineItem | undefined) {
  if (item === undefined) return {};
  return {
    subscription_line_item_id: item.subscription_line_item_id,
    entity_type: item.entity_type,
    entity_id: item.entity_id,
    plan_display_name: item.plan_display_name,
  };
}

function exactOf(item: GivenLineItem | undefined, amount: Decimal): Decimal {
  return item === undefined ? amount : item.exact;
}

/** A line of an invoice with the amount that was given: nothing of it is computed. */
export function givenLine(
  { displayName, amount, quantity, priceId, period, metadata, item }: GivenLineTerms,
  invoice: { readonly id: string; readonly currency: string; readonly window: Interval },
): DocumentLine {
  const { id, currency, window } = invoice;
  const rounded = new Money(amount, currency);
  const digits = minorDigitsOf(currency);
  return {
    ...NOT_STORED,
    metadata,
    invoice_id: id,
    subscription_id: null,
    late_invoice_id: null,
    position: 0,
    kind: 'charge',
    subscription_line_item_id: null,
    entity_type: 'invoice',
    entity_id: id,
    price_id: priceId,
    price_type: 'FIXED',
    price_unit: null,
    price_unit_id: null,
    price_unit_amount: null,
    meter_id: null,
    meter_display_name: null,
    plan_display_name: null,
    ...ownersOf(item),
    display_name: displayName,
    quantity,
    amount: rounded.value,
    committed_amount: null,
    adjusted_entitlement_quantity: null,
    period_start: period?.startMs ?? null,
    period_end: period?.endMs ?? null,
    invoice_level_discount: ZERO,
    line_item_discount: ZERO,
    prepaid_credits_applied: ZERO,
    commitment_info: null,
    usage_analytics: [],
    usage_breakdown: [],
    trace: {
      timezone: 'UTC',
      window: period ?? window,
      usage: null,
      pricing: null,
      windows: null,
      commitment: null,
      proration: item === undefined ? null : item.proration,
      rounding: { exact: exactOf(item, amount), rounded, digits, mode: 'half_up_away_from_zero' },
      discounts: [],
    },
  };
}
