import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';
import {
  INVOICE_CADENCES,
  PRICE_BILLING_PERIODS,
  PRICE_TYPES,
  RECURRING_PERIODS,
  type InvoiceCadence,
  type PriceBillingPeriod,
  type PriceType,
} from '../../domain/price/price-cadence.js';
import type { UnitSymbols } from '../../domain/price/price-unit.js';
import { priceToDto, type PriceDto, type PriceRow } from '../catalog/price.resource.js';
import {
  decimal,
  flag,
  hidden,
  instant,
  integer,
  nullable,
  oneOf,
  text,
  withDefault,
} from '../../records/columns.js';
import {
  rateToDto,
  type Currency,
  type DateTime,
  type DecimalText,
  type RecordDto,
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';
import type { CommitmentTimeBucketDto, CommitmentTypeDto } from './commitment-dto.js';
import { SUBSCRIPTIONS } from './subscription.resource.js';

const OWNER_TYPES = ['plan', 'addon', 'subscription'] as const;
export type LineItemOwnerType = (typeof OWNER_TYPES)[number];

export const LINE_ITEMS = defineResource({
  name: 'subscription line item',
  idPrefix: 'subs_line',
  table: 'subscription_line_items',
  columns: {
    subscription_id: text,
    /** The phase whose dates it carries. */
    subscription_phase_id: withDefault(nullable(text)),
    customer_id: text,
    entity_type: oneOf(OWNER_TYPES),
    entity_id: text,
    /** Of a line that an addon brings. */
    addon_association_id: nullable(text),
    /** The line item that it continues. */
    predecessor_id: withDefault(nullable(text)),
    /** Its first period in advance was settled by the change that made it. */
    is_settled: hidden(withDefault(flag)),
    /** It was added to a period whose charges in advance were made without it. */
    is_late: hidden(withDefault(flag)),
    /** How far its last period is charged in advance, where it ends before. */
    charged_until: hidden(withDefault(nullable(instant))),
    price_id: text,
    price_type: oneOf(PRICE_TYPES),
    meter_id: nullable(text),
    meter_display_name: nullable(text),
    plan_display_name: nullable(text),
    display_name: text,
    currency: text,
    quantity: decimal,
    billing_period: oneOf(PRICE_BILLING_PERIODS),
    billing_period_count: integer,
    invoice_cadence: oneOf(INVOICE_CADENCES),
    start_date: instant,
    end_date: nullable(instant),
    commitment_type: nullable(oneOf(['amount', 'quantity'])),
    commitment_amount: nullable(decimal),
    commitment_quantity: nullable(decimal),
    commitment_duration: nullable(oneOf(RECURRING_PERIODS)),
    commitment_overage_factor: nullable(decimal),
    commitment_true_up_enabled: withDefault(flag),
    commitment_windowed: withDefault(flag),
  },
  removal: 'archived',
  partOf: { column: 'subscription_id', whole: SUBSCRIPTIONS },
});
export type LineItemRow = RecordOf<typeof LINE_ITEMS>;
export type NewLineItemRow = NewRecord<(typeof LINE_ITEMS)['columns']>;

export interface LineItemDto extends RecordDto {
  subscription_id: string;
  subscription_phase_id: string | null;
  customer_id: string;
  entity_type: LineItemOwnerType;
  entity_id: string;
  addon_association_id: string | null;
  /** The line item that it continues. */
  predecessor_id: string | null;
  price_id: string;
  price: PriceDto | null;
  price_type: PriceType;
  price_unit: string | null;
  price_unit_id: string | null;
  meter_id: string | null;
  meter_display_name: string | null;
  plan_display_name: string | null;
  display_name: string;
  currency: Currency;
  quantity: DecimalText;
  billing_period: PriceBillingPeriod;
  /** @isInt */
  billing_period_count: number;
  invoice_cadence: InvoiceCadence;
  start_date: DateTime;
  end_date: DateTime | null;
  commitment_type: CommitmentTypeDto | null;
  commitment_amount: DecimalText | null;
  commitment_quantity: DecimalText | null;
  commitment_duration: BillingPeriod | null;
  commitment_overage_factor: DecimalText | null;
  commitment_true_up_enabled: boolean;
  commitment_windowed: boolean;
  commitment_time_buckets: CommitmentTimeBucketDto[];
}

/** A line item with its price; time buckets are stored on the price (docs/domain.md 11.5). */
export function lineItemToDto(
  row: LineItemRow,
  price: PriceRow,
  symbols: UnitSymbols,
): LineItemDto {
  const { commitment_time_buckets: stored, price_unit, price_unit_id } = price;
  const buckets = stored === null ? [] : stored;
  return {
    ...recordToDto(LINE_ITEMS, row),
    price: priceToDto(price, symbols),
    price_unit,
    price_unit_id,
    commitment_time_buckets: buckets.map((bucket) => ({
      ...bucket,
      commitment_value: rateToDto(bucket.commitment_value),
    })),
  };
}
