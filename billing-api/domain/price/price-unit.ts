import type { Decimal } from '../../../contract/decimal.js';
import type { PriceUnitFigures, Tier } from './price.js';
import type {
  PriceContext,
  PriceRefusal,
  PriceRequest,
  PriceUnitRequest,
  PriceUnitTerms,
} from './price-request.js';
import { isPriceRefusal, refuse } from './price-request.js';
import type { Figures } from './price-figures.js';
import { figuresFrom } from './price-figures.js';

/** The figures of a CUSTOM price as given, and the same in fiat, unrounded (domain.md 8.6). */
export type CustomFigures = {
  readonly figures: PriceUnitFigures;
  readonly inFiat: Figures;
};

/** Reads `price_unit_config`; null for a FIAT price, which must not have one. */
export function unitFiguresFrom(
  request: PriceRequest,
  context: PriceContext & { readonly currency: string },
): CustomFigures | PriceRefusal | null {
  const config = request.priceUnitConfig ?? null;
  if ((request.priceUnitType ?? 'FIAT') === 'FIAT') {
    if (config === null) return null;
    const remedy = 'leave it out, or set price_unit_type to CUSTOM';
    return refuse('price_unit_forbidden', 'price_unit_config', remedy);
  }
  if (config === null) {
    return refuse('price_unit_missing', 'price_unit_config', 'a CUSTOM price needs it');
  }
  const unit = matchingUnit(config, context);
  if (isPriceRefusal(unit)) return unit;
  return refusalOfFiatFigures(request) ?? customFiguresFrom(config, unit);
}

function matchingUnit(
  config: PriceUnitRequest,
  context: PriceContext & { readonly currency: string },
): PriceUnitTerms | PriceRefusal {
  const member = 'price_unit_config.price_unit';
  const unit = context.priceUnit;
  if (unit === null || unit.code !== config.priceUnit) {
    return refuse('price_unit_unknown', member, 'give the code of a published price unit');
  }
  if (unit.baseCurrency === context.currency) return unit;
  const remedy = `choose a unit whose base currency is ${context.currency}`;
  return refuse('price_unit_of_other_currency', member, remedy);
}

/** The fiat figures of a CUSTOM price are computed, so a request must not give them as well. */
function refusalOfFiatFigures(request: PriceRequest): PriceRefusal | null {
  const remedy = 'a CUSTOM price has its figures in price_unit_config';
  if ((request.tiers ?? []).length > 0) return refuse('tiers_given_twice', 'tiers', remedy);
  const amount = request.amount ?? '';
  return amount === '' ? null : refuse('amount_given_twice', 'amount', remedy);
}

function customFiguresFrom(
  config: PriceUnitRequest,
  unit: PriceUnitTerms,
): CustomFigures | PriceRefusal {
  const given = figuresFrom({
    amount: config.amount,
    tiers: config.priceUnitTiers,
    amountMember: 'price_unit_config.amount',
    tiersMember: 'price_unit_config.price_unit_tiers',
  });
  if (isPriceRefusal(given)) return given;
  const { id: priceUnitId, code: priceUnit, conversionRate } = unit;
  const tiers = given.tiers?.map((tier) => tierInFiat(tier, conversionRate)) ?? null;
  return {
    figures: { priceUnitId, priceUnit, conversionRate, ...given },
    inFiat: { amount: given.amount?.times(conversionRate) ?? null, tiers },
  };
}

function tierInFiat(tier: Tier, rate: Decimal): Tier {
  const flatAmount = tier.flatAmount === null ? null : tier.flatAmount.times(rate);
  return { ...tier, unitAmount: tier.unitAmount.times(rate), flatAmount };
}
