import type { Decimal } from '../../../contract/number/decimal.js';
import type { DecimalText } from '../../../contract/wire-types.js';
import { figuresFrom, type Figures, type Tier, type TierBody } from './price-figures.js';
import { isPriceRefusal, refuse, type PriceRefusal } from './price-refusal.js';

export const PRICE_UNIT_TYPES = ['FIAT', 'CUSTOM'] as const;
export type PriceUnitType = (typeof PRICE_UNIT_TYPES)[number];

/** The figures of a CUSTOM price, in a unit of the tenant's own. */
export interface PriceUnitConfigBody {
  /** Code of the price unit. */
  readonly price_unit: string;
  readonly amount?: DecimalText;
  /** @maxItems 100 */
  readonly price_unit_tiers?: readonly TierBody[];
}

/** Figures that an override gives a CUSTOM price, in the price's unit (docs/domain.md 9.5). */
export interface PriceUnitOverrideBody {
  readonly price_unit_amount?: DecimalText;
  /** @maxItems 100 */
  readonly price_unit_tiers?: readonly TierBody[];
}

/** Members of a price body that price in a unit of the tenant's own (docs/domain.md 8.6). */
export interface PriceUnitBody {
  readonly price_unit_type?: PriceUnitType;
  readonly price_unit_config?: PriceUnitConfigBody;
}

/**
 * The figures of a CUSTOM price in its own unit; the price itself carries them in fiat
 * (docs/domain.md 8.6).
 */
export type PriceUnitFigures = Figures & {
  readonly priceUnitId: string;
  readonly priceUnit: string;
  /** Fiat money for one unit, frozen when the price is created; greater than 0. */
  readonly conversionRate: Decimal;
};

/** A published price unit. */
export type PriceUnitTerms = {
  readonly id: string;
  readonly code: string;
  /** Lower case. */
  readonly baseCurrency: string;
  /** Fiat money for one unit; greater than 0. */
  readonly conversionRate: Decimal;
};

/** Symbols of price units by the id of the unit. */
export type UnitSymbols = ReadonlyMap<string, string>;

/** What a price in a unit is read with. */
export type PriceUnitContext = {
  /** Of the price, lower case. */
  readonly currency: string;
  /** The published price unit whose code the body names; null when there is none. */
  readonly priceUnit: PriceUnitTerms | null;
};

/** The figures of a CUSTOM price as given, and the same in fiat, unrounded (docs/domain.md 8.6). */
export type CustomFigures = {
  readonly figures: PriceUnitFigures;
  readonly inFiat: Figures;
};

/** The fiat figures of a price body, which a CUSTOM price must not have. */
type FiatFigures = {
  readonly amount?: string | undefined;
  readonly tiers?: readonly TierBody[] | undefined;
};

/** Reads `price_unit_config`; null for a FIAT price, which must not have one. */
export function unitFiguresFrom(
  body: PriceUnitBody & FiatFigures,
  context: PriceUnitContext,
): CustomFigures | PriceRefusal | null {
  const config = body.price_unit_config ?? null;
  if ((body.price_unit_type ?? 'FIAT') === 'FIAT') {
    if (config === null) return null;
    const remedy = 'leave it out, or set price_unit_type to CUSTOM';
    return refuse('price_unit_forbidden', 'price_unit_config', remedy);
  }
  if (config === null) {
    return refuse('price_unit_missing', 'price_unit_config', 'a CUSTOM price needs it');
  }
  const unit = matchingUnit(config, context);
  if (isPriceRefusal(unit)) return unit;
  return refusalOfFiatFigures(body) ?? customFiguresFrom(config, unit);
}

function matchingUnit(
  config: PriceUnitConfigBody,
  { priceUnit: unit, currency }: PriceUnitContext,
): PriceUnitTerms | PriceRefusal {
  const member = 'price_unit_config.price_unit';
  if (unit === null || unit.code !== config.price_unit) {
    return refuse('price_unit_unknown', member, 'give the code of a published price unit');
  }
  if (unit.baseCurrency === currency) return unit;
  const remedy = `choose a unit whose base currency is ${currency}`;
  return refuse('price_unit_of_other_currency', member, remedy);
}

/** The fiat figures of a CUSTOM price are computed, so a request must not give them as well. */
function refusalOfFiatFigures(
  { amount = '', tiers = [] }: FiatFigures,
  members = 'price_unit_config',
): PriceRefusal | null {
  const remedy = `a CUSTOM price has its figures in ${members}`;
  if (tiers.length > 0) return refuse('tiers_given_twice', 'tiers', remedy);
  return amount === '' ? null : refuse('amount_given_twice', 'amount', remedy);
}

function customFiguresFrom(
  config: PriceUnitConfigBody,
  unit: PriceUnitTerms,
): CustomFigures | PriceRefusal {
  const given = figuresFrom({
    amount: config.amount,
    tiers: config.price_unit_tiers,
    amountMember: 'price_unit_config.amount',
    tiersMember: 'price_unit_config.price_unit_tiers',
  });
  if (isPriceRefusal(given)) return given;
  const { id: priceUnitId, code: priceUnit, conversionRate } = unit;
  return withFiat({ priceUnitId, priceUnit, conversionRate, ...given });
}

/**
 * The figures of a CUSTOM price with those that an override gives, at the rate that the price has
 * frozen (docs/domain.md 8.6, 9.5); null for a FIAT price, of which an override gives none.
 */
export function overriddenUnitFigures(
  base: PriceUnitFigures | null,
  override: PriceUnitOverrideBody & FiatFigures,
): CustomFigures | PriceRefusal | null {
  const { price_unit_amount: amount, price_unit_tiers: tiers } = override;
  if (base === null) return unitRefusalOfFiatPrice(override);
  const ofFiat = refusalOfFiatFigures(override, 'price_unit_amount and price_unit_tiers');
  if (ofFiat !== null) return ofFiat;
  const members = { amountMember: 'price_unit_amount', tiersMember: 'price_unit_tiers' };
  const given = figuresFrom({ amount, tiers, ...members });
  if (isPriceRefusal(given)) return given;
  return withFiat({
    ...base,
    amount: amount === undefined ? base.amount : given.amount,
    tiers: tiers === undefined ? base.tiers : given.tiers,
  });
}

function unitRefusalOfFiatPrice(override: PriceUnitOverrideBody): PriceRefusal | null {
  const members = ['price_unit_amount', 'price_unit_tiers'] as const;
  const given = members.find((member) => override[member] !== undefined);
  if (given === undefined) return null;
  return refuse('price_unit_forbidden', given, 'the price is not in a price unit');
}

function withFiat(figures: PriceUnitFigures): CustomFigures {
  const { amount, tiers, conversionRate: rate } = figures;
  const inFiat = {
    amount: amount?.times(rate) ?? null,
    tiers: tiers?.map((tier) => tierInFiat(tier, rate)) ?? null,
  };
  return { figures, inFiat };
}

function tierInFiat(tier: Tier, rate: Decimal): Tier {
  const flatAmount = tier.flatAmount === null ? null : tier.flatAmount.times(rate);
  return { ...tier, unitAmount: tier.unitAmount.times(rate), flatAmount };
}
