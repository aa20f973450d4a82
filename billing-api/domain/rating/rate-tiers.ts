import { Decimal, ZERO } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Tier } from '../price/price-figures.js';
import type { PriceModel } from '../price/price-model.js';
import type { RatedCharge } from './pricing-trace.js';
import { rateTieredSlab } from './rate-tiered-slab.js';
import { rateTieredVolume } from './rate-tiered-volume.js';
import { present, type Charger, type RatedModel } from './rated-model.js';

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

function rateTiers(price: PriceModel, quantity: Decimal): RatedCharge {
  const tiers = present(price.tiers, 'tiers');
  switch (price.tierMode) {
    case 'VOLUME':
      return rateTieredVolume(tiers, quantity);
    case 'SLAB':
      return rateTieredSlab(tiers, quantity);
  }
}

function tieredCharger(price: PriceModel): Charger | null {
  switch (price.tierMode) {
    case 'VOLUME':
      return null;
    case 'SLAB':
      return createSlabCharger(assertPresent(price.tiers, 'the tiers of a SLAB price'));
  }
}

/** Tiers with amounts of their own (docs/domain.md 8.3). */
export const TIERED: RatedModel = {
  rate: rateTiers,
  nothing: ({ tierMode }) => ({ tierMode, packages: null }),
  charger: tieredCharger,
  isLinear: false,
  hasStepRows: true,
};
