import { decimalOf, plain, type Decimal } from '../../../contract/decimal.js';
import type { Price, PriceTerms, PriceUnitFigures, Tier } from '../../domain/price/price.js';
import { instantValue, type NewRow } from '../../records/records.js';
import type { PriceRow, TierColumn } from './prices-store.js';

function decimalOrNull(text: string | null): Decimal | null {
  return text === null ? null : decimalOf(text);
}

function textOrNull(value: Decimal | null): string | null {
  return value === null ? null : plain(value);
}

function tierFromColumn(tier: TierColumn): Tier {
  return {
    unitAmount: decimalOf(tier.unit_amount),
    flatAmount: decimalOrNull(tier.flat_amount),
    upTo: tier.up_to,
  };
}

function tierToColumn(tier: Tier): TierColumn {
  return {
    unit_amount: plain(tier.unitAmount),
    flat_amount: textOrNull(tier.flatAmount),
    up_to: tier.upTo,
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
  return {
    id: row.id,
    status: row.status,
    type: row.type,
    currency: row.currency,
    billingModel: row.billing_model,
    amount: decimalOrNull(row.amount),
    tierMode: row.tier_mode ?? 'VOLUME',
    tiers: row.tiers?.map(tierFromColumn) ?? null,
    transformQuantity:
      row.transform_quantity === null
        ? null
        : { divideBy: row.transform_quantity.divide_by, round: row.transform_quantity.round },
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
    endMs: row.end_date,
    priceUnitFigures: unitFiguresFromRow(row),
  };
}

function unitFiguresToColumns(unit: PriceUnitFigures | null): NewRow {
  if (unit === null) return { price_unit_type: 'FIAT' };
  return {
    price_unit_type: 'CUSTOM',
    price_unit: unit.priceUnit,
    price_unit_id: unit.priceUnitId,
    price_unit_amount: textOrNull(unit.amount),
    price_unit_tiers: unit.tiers?.map(tierToColumn) ?? null,
    conversion_rate: plain(unit.conversionRate),
  };
}

function transformToColumn(transform: PriceTerms['transformQuantity']): NewRow | null {
  return transform === null ? null : { divide_by: transform.divideBy, round: transform.round };
}

/** The columns of a price that its terms decide. */
export function priceTermsToColumns(terms: PriceTerms): NewRow {
  const hasFilters = Object.keys(terms.filterValues).length > 0;
  return {
    type: terms.type,
    currency: terms.currency,
    billing_model: terms.billingModel,
    amount: textOrNull(terms.amount),
    tier_mode: terms.tierMode,
    tiers: terms.tiers?.map(tierToColumn) ?? null,
    transform_quantity: transformToColumn(terms.transformQuantity),
    billing_cadence: terms.billingCadence,
    billing_period: terms.billingPeriod,
    billing_period_count: terms.billingPeriodCount,
    invoice_cadence: terms.invoiceCadence,
    entity_type: terms.entityType,
    entity_id: terms.entityId,
    meter_id: terms.meterId,
    filter_values: hasFilters ? terms.filterValues : null,
    min_quantity: textOrNull(terms.minQuantity),
    trial_period_days: terms.trialPeriodDays,
    start_date: instantValue(terms.startMs),
    end_date: instantValue(terms.endMs),
    ...unitFiguresToColumns(terms.priceUnitFigures),
  };
}
