import { decimalOf, type Decimal } from '../../../../contract/number/decimal.js';
import type { Price as ProductPrice } from '../../../../billing-api/domain/price/price.js';
import type { Tier } from '../../../../billing-api/domain/price/price-figures.js';
import type { PriceModel } from '../../../../billing-api/domain/price/price-model.js';
import type { LineItem, Price, Subscription } from '../subscription.js';

type Figures = Pick<PriceModel, 'amount' | 'tiers'>;

/** Amounts of a price as it states them. */
function figuresOf(price: Price): Figures {
  if (price.model !== 'TIERED') return { amount: decimalOf(price.amount), tiers: null };
  const tiers = price.tiers.map(({ upTo, unitAmount, flatAmount }): Tier => ({
    upTo,
    unitAmount: decimalOf(unitAmount),
    flatAmount: flatAmount === '0' ? null : decimalOf(flatAmount),
  }));
  return { amount: null, tiers };
}

/** The same in fiat money: a price in custom units is stored converted (docs/domain.md 8.6). */
function inFiat({ amount, tiers }: Figures, rate: Decimal): Figures {
  return {
    amount: amount?.times(rate) ?? null,
    tiers:
      tiers?.map(({ upTo, unitAmount, flatAmount }) => ({
        upTo,
        unitAmount: unitAmount.times(rate),
        flatAmount: flatAmount?.times(rate) ?? null,
      })) ?? null,
  };
}

/** What turns a quantity into money. */
export function productModel(price: Price): PriceModel {
  const figures = figuresOf(price);
  const fiat = price.unitRate === null ? figures : inFiat(figures, decimalOf(price.unitRate));
  const { divideBy, round } =
    price.model === 'PACKAGE' ? price : { divideBy: 1, round: 'up' as const };
  return {
    ...fiat,
    billingModel: price.model,
    tierMode: price.model === 'TIERED' ? price.mode : 'VOLUME',
    transformQuantity: price.model === 'PACKAGE' ? { divideBy, round } : null,
  };
}

type Recurrence = Pick<
  ProductPrice,
  'type' | 'billingCadence' | 'billingPeriod' | 'billingPeriodCount' | 'invoiceCadence' | 'meterId'
>;

function recurrenceOf(item: LineItem): Recurrence {
  if (item.type === 'ONETIME') {
    return {
      type: 'FIXED',
      billingCadence: 'ONETIME',
      billingPeriod: 'ONETIME',
      billingPeriodCount: 1,
      invoiceCadence: 'ADVANCE',
      meterId: null,
    };
  }
  return {
    type: item.type,
    billingCadence: 'RECURRING',
    billingPeriod: item.length.period,
    billingPeriodCount: item.length.count,
    invoiceCadence: item.type === 'USAGE' ? 'ARREAR' : item.cadence,
    meterId: item.type === 'USAGE' ? item.meterId : null,
  };
}

function filterValuesOf(item: LineItem): ProductPrice['filterValues'] {
  if (item.type !== 'USAGE') return {};
  return Object.fromEntries(item.filterValues.map(({ key, values }) => [key, values]));
}

function maximumOf(item: LineItem): Pick<ProductPrice, 'maxAmount'> {
  if (item.type !== 'USAGE' || item.maximum === undefined) return {};
  return { maxAmount: decimalOf(item.maximum) };
}

export function productPrice({ currency }: Subscription, item: LineItem): ProductPrice {
  const { price } = item;
  const { amount, tiers } = figuresOf(price);
  return {
    ...productModel(price),
    ...recurrenceOf(item),
    ...maximumOf(item),
    id: `price of ${item.id}`,
    status: 'published',
    currency,
    entityType: 'PLAN',
    entityId: 'plan',
    filterValues: filterValuesOf(item),
    minQuantity: null,
    trialPeriodDays: null,
    startMs: item.start,
    isStartGiven: true,
    endMs: null,
    priceUnitFigures:
      price.unitRate === null
        ? null
        : {
            priceUnitId: 'unit',
            priceUnit: 'unit',
            conversionRate: decimalOf(price.unitRate),
            amount,
            tiers,
          },
  };
}
