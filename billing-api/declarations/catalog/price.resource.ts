import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { mustGet } from '../../../runtime/failure.js';
import type { BillingCadence } from '../../domain/calendar/billing-grid.js';
import { displayAmount } from '../../domain/money/display-amount.js';
import {
  INVOICE_CADENCES,
  PRICE_BILLING_PERIODS,
  PRICE_TYPES,
  type InvoiceCadence,
  type PriceBillingPeriod,
  type PriceType,
} from '../../domain/price/price-cadence.js';
import {
  BILLING_MODELS,
  TIER_MODES,
  type BillingModel,
  type TierMode,
} from '../../domain/price/price-model.js';
import {
  PRICE_UNIT_TYPES,
  type PriceUnitFigures,
  type PriceUnitType,
  type UnitSymbols,
} from '../../domain/price/price-unit.js';
import {
  PRICE_OWNER_TYPES,
  type Price,
  type PriceOwnerType,
  type PriceTerms,
} from '../../domain/price/price.js';
import {
  decimal,
  flag,
  hidden,
  instant,
  integer,
  json,
  nullable,
  oneOf,
  text,
  withDefault,
} from '../../records/columns.js';
import { GROUPS } from './group.resource.js';
import {
  rateToDto,
  type Currency,
  type DateTime,
  type DecimalText,
  type RecordDto,
} from '../../records/record-dto.js';
import {
  decimalOrNull,
  filterValues,
  textOrNull,
  tierFromColumn,
  tierList,
  tierToColumn,
  timeBucketList,
  transformQuantity,
  type FilterValuesDto,
  type TierDto,
  type TransformQuantityDto,
} from './price-json.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';

/*
 * What a member of a price needs outside of the domain beside a request: the column, the answer,
 * and the way from and to the domain's price.
 */

export interface PriceDto extends RecordDto {
  type: PriceType;
  billing_model: BillingModel;
  billing_cadence: BillingCadence;
  billing_period: PriceBillingPeriod;
  /** @isInt */
  billing_period_count: number;
  invoice_cadence: InvoiceCadence;
  amount: DecimalText | null;
  currency: Currency;
  /** @example "$0.0025" */
  display_amount: string | null;
  display_name: string | null;
  description: string | null;
  lookup_key: string | null;
  /** The most that a line of the price is charged for a billing period; null without one. */
  max_amount: DecimalText | null;
  min_quantity: DecimalText | null;
  /** @isInt */
  trial_period_days: number | null;
  /** @isInt */
  sequence: number;
  start_date: DateTime;
  end_date: DateTime | null;
  parent_price_id: string | null;
  entity_type: PriceOwnerType;
  entity_id: string;
  group_id: string | null;
  meter_id: string | null;
  filter_values: FilterValuesDto | null;
  tier_mode: TierMode | null;
  tiers: TierDto[] | null;
  transform_quantity: TransformQuantityDto | null;
  price_unit: string | null;
  price_unit_id: string | null;
  price_unit_amount: DecimalText | null;
  display_price_unit_amount: string | null;
  conversion_rate: DecimalText | null;
  price_unit_type: PriceUnitType;
  price_unit_tiers: TierDto[] | null;
}

export const PRICES = defineResource({
  name: 'price',
  idPrefix: 'price',
  table: 'prices',
  columns: {
    entity_type: oneOf(PRICE_OWNER_TYPES),
    entity_id: text,
    type: oneOf(PRICE_TYPES),
    billing_model: oneOf(BILLING_MODELS),
    billing_cadence: oneOf(['RECURRING', 'ONETIME']),
    billing_period: oneOf(PRICE_BILLING_PERIODS),
    billing_period_count: integer,
    invoice_cadence: oneOf(INVOICE_CADENCES),
    amount: nullable(decimal),
    currency: text,
    meter_id: nullable(text),
    filter_values: nullable(json(filterValues)),
    tier_mode: nullable(oneOf(TIER_MODES)),
    tiers: nullable(json(tierList)),
    transform_quantity: nullable(json(transformQuantity)),
    max_amount: nullable(decimal),
    min_quantity: nullable(decimal),
    trial_period_days: nullable(integer),
    display_name: nullable(text),
    description: nullable(text),
    lookup_key: nullable(text),
    parent_price_id: nullable(text),
    group_id: nullable(text),
    price_unit_type: oneOf(PRICE_UNIT_TYPES),
    price_unit: nullable(text),
    price_unit_id: nullable(text),
    price_unit_amount: nullable(decimal),
    price_unit_tiers: nullable(json(tierList)),
    conversion_rate: nullable(decimal),
    commitment_time_buckets: hidden(nullable(json(timeBucketList))),
    /** Place among the owner's prices; a subscription that has synced up to it has the price. */
    sequence: integer,
    start_date: instant,
    /** False: it is when the price was made, which delays no subscription. */
    is_start_given: hidden(withDefault(flag)),
    end_date: nullable(instant),
  },
  unique: { prices_lookup_key: 'lookup_key' },
  references: { group_id: { ...GROUPS, having: { column: 'entity_type', is: 'price' } } },
  removal: 'archived',
});
export type PriceRow = RecordOf<typeof PRICES>;
export type NewPriceRow = NewRecord<(typeof PRICES)['columns']>;

/** The amount in the price's unit, behind the symbol of the unit (docs/domain.md 8.6). */
function displayUnitAmount(row: PriceRow, symbols: UnitSymbols): string | null {
  const { price_unit_id: unitId, price_unit_amount: amount } = row;
  if (unitId === null || amount === null) return null;
  return `${mustGet(symbols, unitId, 'the symbol of a price unit')}${rateToDto(amount)}`;
}

/** A price as it is answered, with the symbols of the units that the prices are in. */
export function priceToDto(row: PriceRow, symbols: UnitSymbols): PriceDto {
  return {
    ...recordToDto(PRICES, row),
    display_amount: row.amount === null ? null : displayAmount(decimalOf(row.amount), row.currency),
    display_price_unit_amount: displayUnitAmount(row, symbols),
  };
}

function unitFiguresFromRow(row: PriceRow): PriceUnitFigures | null {
  if (row.price_unit_id === null || row.price_unit === null || row.conversion_rate === null) {
    return null;
  }
  return {
    priceUnitId: row.price_unit_id,
    priceUnit: row.price_unit,
    conversionRate: decimalOf(row.conversion_rate),
    amount: decimalOrNull(row.price_unit_amount),
    tiers: row.price_unit_tiers?.map(tierFromColumn) ?? null,
  };
}

/** A stored price as the domain prices with it. */
export function priceFromRow(row: PriceRow): Price {
  const transform = row.transform_quantity;
  return {
    id: row.id,
    status: row.status,
    type: row.type,
    currency: row.currency,
    billingModel: row.billing_model,
    amount: decimalOrNull(row.amount),
    tierMode: row.tier_mode ?? 'VOLUME',
    tiers: row.tiers?.map(tierFromColumn) ?? null,
    transformQuantity: transform && { divideBy: transform.divide_by, round: transform.round },
    ...(row.max_amount === null ? {} : { maxAmount: decimalOf(row.max_amount) }),
    billingCadence: row.billing_cadence,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
    invoiceCadence: row.invoice_cadence,
    entityType: row.entity_type,
    entityId: row.entity_id,
    meterId: row.meter_id,
    filterValues: row.filter_values ?? {},
    minQuantity: decimalOrNull(row.min_quantity),
    trialPeriodDays: row.trial_period_days,
    startMs: row.start_date,
    isStartGiven: row.is_start_given,
    endMs: row.end_date,
    priceUnitFigures: unitFiguresFromRow(row),
  };
}

/** Columns of a price that decide no money, as they came or as another price has them. */
export type PassthroughColumns = Required<
  Pick<
    NewPriceRow,
    'display_name' | 'description' | 'lookup_key' | 'parent_price_id' | 'group_id' | 'metadata'
  >
>;

/**
 * What a price of a subscription takes over from the price that it stands for (docs/domain.md 9.5).
 */
export function passthroughFromParent(parent: PriceRow): PassthroughColumns {
  return {
    display_name: parent.display_name,
    description: parent.description,
    lookup_key: null,
    parent_price_id: parent.parent_price_id ?? parent.id,
    group_id: parent.group_id,
    metadata: parent.metadata,
  };
}

/** Columns that the terms of a price decide: all but those above and its place among the others. */
export type TermColumns = Omit<
  NewPriceRow,
  keyof PassthroughColumns | 'id' | 'sequence' | 'commitment_time_buckets'
>;

const FIAT = {
  price_unit_type: 'FIAT',
  price_unit: null,
  price_unit_id: null,
  price_unit_amount: null,
  price_unit_tiers: null,
  conversion_rate: null,
} as const;

function unitToColumns(figures: PriceUnitFigures | null) {
  if (figures === null) return FIAT;
  return {
    price_unit_type: 'CUSTOM' as const,
    price_unit: figures.priceUnit,
    price_unit_id: figures.priceUnitId,
    price_unit_amount: textOrNull(figures.amount),
    price_unit_tiers: figures.tiers?.map(tierToColumn) ?? null,
    conversion_rate: plain(figures.conversionRate),
  };
}

export function priceToColumns(terms: PriceTerms): TermColumns {
  const { transformQuantity: transform } = terms;
  const filters = Object.entries(terms.filterValues);
  return {
    type: terms.type,
    currency: terms.currency,
    billing_model: terms.billingModel,
    amount: textOrNull(terms.amount),
    tier_mode: terms.tierMode,
    tiers: terms.tiers?.map(tierToColumn) ?? null,
    transform_quantity: transform && { divide_by: transform.divideBy, round: transform.round },
    max_amount: terms.maxAmount === undefined ? null : plain(terms.maxAmount),
    billing_cadence: terms.billingCadence,
    billing_period: terms.billingPeriod,
    billing_period_count: terms.billingPeriodCount,
    invoice_cadence: terms.invoiceCadence,
    entity_type: terms.entityType,
    entity_id: terms.entityId,
    meter_id: terms.meterId,
    filter_values:
      filters.length === 0
        ? null
        : Object.fromEntries(filters.map(([key, texts]) => [key, [...texts]])),
    min_quantity: textOrNull(terms.minQuantity),
    trial_period_days: terms.trialPeriodDays,
    start_date: terms.startMs,
    is_start_given: terms.isStartGiven,
    end_date: terms.endMs,
    ...unitToColumns(terms.priceUnitFigures),
  };
}
