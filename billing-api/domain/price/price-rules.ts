import type { PriceTerms } from './price.js';
import type { PriceRefusal } from './price-request.js';
import { refuse } from './price-request.js';

/** A rule of domain.md 3.2 that looks at a complete price; null when the price keeps it. */
type PriceRule = (price: PriceTerms) => PriceRefusal | null;

const RULES: readonly PriceRule[] = [
  hasWhatItsModelNeeds,
  hasWholeDivisor,
  hasPositiveCount,
  hasOneCadence,
  usageIsMeteredInArrear,
  onetimeIsFixedInAdvance,
  trialIsRecurringFixed,
  endsAfterItStarts,
];

/** The first rule that a complete price breaks; null for a good one. */
export function brokenPriceRule(price: PriceTerms): PriceRefusal | null {
  for (const rule of RULES) {
    const refusal = rule(price);
    if (refusal !== null) return refusal;
  }
  return null;
}

function hasWhatItsModelNeeds(price: PriceTerms): PriceRefusal | null {
  switch (price.billingModel) {
    case 'FLAT_FEE':
      return hasAmount(price);
    case 'PACKAGE':
      return hasAmount(price) ?? hasTransform(price);
    case 'TIERED':
      return hasTiers(price);
  }
}

/** Where the figures of the price stand in a request. */
function figureMember(price: PriceTerms, fiat: string, custom: string): string {
  return price.priceUnitFigures === null ? fiat : `price_unit_config.${custom}`;
}

function hasAmount(price: PriceTerms): PriceRefusal | null {
  if (price.amount !== null) return null;
  const member = figureMember(price, 'amount', 'amount');
  return refuse('amount_missing', member, `a ${price.billingModel} price needs an amount`);
}

function hasTransform(price: PriceTerms): PriceRefusal | null {
  if (price.transformQuantity !== null) return null;
  const remedy = 'a PACKAGE price needs transform_quantity with divide_by';
  return refuse('transform_quantity_missing', 'transform_quantity', remedy);
}

function hasTiers(price: PriceTerms): PriceRefusal | null {
  if (price.tiers !== null) return null;
  const member = figureMember(price, 'tiers', 'price_unit_tiers');
  return refuse('tiers_missing', member, 'a TIERED price needs tiers');
}

function isWholeFrom1(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function hasWholeDivisor(price: PriceTerms): PriceRefusal | null {
  const transform = price.transformQuantity;
  if (transform === null || isWholeFrom1(transform.divideBy)) return null;
  const member = 'transform_quantity.divide_by';
  return refuse('divide_by_below_one', member, 'give an integer of 1 or more');
}

function hasPositiveCount(price: PriceTerms): PriceRefusal | null {
  if (isWholeFrom1(price.billingPeriodCount)) return null;
  const remedy = 'give an integer of 1 or more';
  return refuse('billing_period_count_below_one', 'billing_period_count', remedy);
}

function hasOneCadence(price: PriceTerms): PriceRefusal | null {
  if ((price.billingCadence === 'ONETIME') === (price.billingPeriod === 'ONETIME')) return null;
  const remedy = 'billing_cadence ONETIME and billing_period ONETIME belong together';
  return refuse('cadence_contradicts_period', 'billing_period', remedy);
}

function usageIsMeteredInArrear(price: PriceTerms): PriceRefusal | null {
  if (price.type !== 'USAGE') return null;
  if (price.meterId === null || price.meterId === '') {
    return refuse('meter_missing', 'meter_id', 'a USAGE price needs a meter');
  }
  if (price.invoiceCadence === 'ADVANCE') {
    return refuse('usage_in_advance', 'invoice_cadence', 'usage is billed in ARREAR');
  }
  if (price.minQuantity === null) return null;
  return refuse('usage_with_min_quantity', 'min_quantity', 'leave it out of a USAGE price');
}

function onetimeIsFixedInAdvance(price: PriceTerms): PriceRefusal | null {
  if (price.billingCadence !== 'ONETIME') return null;
  const remedy = 'a ONETIME price is of type FIXED with invoice_cadence ADVANCE';
  if (price.type !== 'FIXED') return refuse('onetime_not_fixed_in_advance', 'type', remedy);
  if (price.invoiceCadence === 'ADVANCE') return null;
  return refuse('onetime_not_fixed_in_advance', 'invoice_cadence', remedy);
}

function trialIsRecurringFixed(price: PriceTerms): PriceRefusal | null {
  const days = price.trialPeriodDays;
  if (days === null) return null;
  if (!isWholeFrom1(days)) {
    return refuse('trial_days_negative', 'trial_period_days', 'give an integer of 0 or more');
  }
  if (price.type === 'FIXED' && price.billingCadence === 'RECURRING') return null;
  const remedy = 'only a recurring FIXED price has trial days';
  return refuse('trial_not_recurring_fixed', 'trial_period_days', remedy);
}

function endsAfterItStarts(price: PriceTerms): PriceRefusal | null {
  if (price.endMs === null || price.endMs >= price.startMs) return null;
  return refuse('dates_reversed', 'end_date', 'give an end that is not before the start');
}
