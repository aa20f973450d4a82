import { hasOneCadence, hasPositiveCount } from './price-cadence.js';
import { onetimeIsFixedInAdvance, trialIsRecurringFixed } from './price-cadence.js';
import { hasWhatItsModelNeeds } from './price-model.js';
import { minorDigitsOf } from '../money/minor-digits.js';
import { refuse, type PriceRefusal } from './price-refusal.js';
import type { PriceTerms } from './price.js';

/** A rule of docs/domain.md 3.2 that looks at a complete price; null when the price keeps it. */
type PriceRule = (price: PriceTerms) => PriceRefusal | null;

const RULES: readonly PriceRule[] = [
  hasWhatItsModelNeeds,
  maximumIsOfUsage,
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

function usageIsMeteredInArrear(price: PriceTerms): PriceRefusal | null {
  if (price.type !== 'USAGE') return null;
  if (price.meterId === null || price.meterId === '') {
    return refuse('meter_missing', 'meter_id', 'a USAGE price needs a meter');
  }
  if (price.invoiceCadence === 'ADVANCE') {
    return refuse('usage_in_advance', 'invoice_cadence', 'usage is billed in ARREAR');
  }
  return null;
}

function maximumIsOfUsage({ type, maxAmount, currency }: PriceTerms): PriceRefusal | null {
  if (maxAmount === undefined) return null;
  if (type !== 'USAGE') {
    const remedy = 'leave it out: only a USAGE price has a maximum';
    return refuse('maximum_without_usage', 'max_amount', remedy);
  }
  const digits = minorDigitsOf(currency);
  if (maxAmount.decimalPlaces() <= digits) return null;
  const remedy = `give at most ${digits} fraction digits, as amounts in ${currency} have`;
  return refuse('maximum_too_fine', 'max_amount', remedy);
}

function endsAfterItStarts(price: PriceTerms): PriceRefusal | null {
  if (price.endMs === null || price.endMs >= price.startMs) return null;
  return refuse('dates_reversed', 'end_date', 'give an end that is not before the start');
}
