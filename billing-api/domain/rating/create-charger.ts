import { Decimal, ZERO } from '../../../contract/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Tier } from '../price/price-figures.js';
import type { PriceModel } from '../price/price-model.js';
import { ratePrice } from './rate-price.js';

/** What a price charges for a quantity of 0 or more; exact. */
export type Charger = (quantity: Decimal) => Decimal;

/** A tier of a SLAB price, with the charge for entering it. */
type SlabTier = {
  /** Lower bound of the tier, exclusive. */
  readonly above: Decimal;
  /** Null for the open tier. */
  readonly upTo: Decimal | null;
  /** The full charge of all lower tiers, plus the flat amount of this one. */
  readonly entered: Decimal;
  readonly unitAmount: Decimal;
};

function slabTiersOf(tiers: readonly Tier[]): readonly SlabTier[] {
  let [above, below] = [ZERO, ZERO];
  return tiers.map(({ upTo, unitAmount, flatAmount }) => {
    const end = upTo === null ? null : new Decimal(upTo);
    const entered = flatAmount === null ? below : below.plus(flatAmount);
    const tier = { above, upTo: end, entered, unitAmount };
    if (end !== null) [above, below] = [end, entered.plus(end.minus(above).times(unitAmount))];
    return tier;
  });
}

function createSlabCharger(tiers: readonly Tier[]): Charger {
  const slabTiers = slabTiersOf(tiers);
  return (quantity) => {
    if (quantity.isZero()) return ZERO;
    const tier = slabTiers.find(({ upTo }) => upTo === null || quantity.lessThanOrEqualTo(upTo));
    if (tier === undefined) throw new RangeError('the tiers have no open end');
    return quantity.minus(tier.above).times(tier.unitAmount).plus(tier.entered);
  };
}

/** Bounds the remembered quantities; the quantity of a minute is usually a small count. */
const REMEMBERED_MAX = 1_000;

/** Remembers charges by the identity of the quantity, which is the fastest look-up. */
function remembering(charge: Charger): Charger {
  const known = new Map<Decimal, Decimal>();
  return (quantity) => {
    const found = known.get(quantity);
    if (found !== undefined) return found;
    const amount = charge(quantity);
    if (known.size < REMEMBERED_MAX) known.set(quantity, amount);
    return amount;
  };
}

/**
 * `ratePrice` without its trace, fast enough for the 43,200 windows of a month of minutes: finding
 * the last of three tiers takes a quarter of the time of walking all three, and equal counts, which
 * share one decimal (`decimalOfCount`), take a single look-up.
 */
export function createCharger(price: PriceModel): Charger {
  return remembering(chargerOf(price));
}

/** Every price model has its branch, so that a new one does not compile until it has one here. */
function chargerOf(price: PriceModel): Charger {
  switch (price.billingModel) {
    case 'FLAT_FEE':
    case 'PACKAGE':
      return chargerByTrace(price);
    case 'TIERED':
      return tieredCharger(price);
  }
}

function tieredCharger(price: PriceModel): Charger {
  switch (price.tierMode) {
    case 'VOLUME':
      return chargerByTrace(price);
    case 'SLAB':
      return createSlabCharger(assertPresent(price.tiers, 'the tiers of a SLAB price'));
  }
}

function chargerByTrace(price: PriceModel): Charger {
  return (quantity) => ratePrice(price, quantity).amount;
}
