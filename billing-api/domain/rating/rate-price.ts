import { ZERO } from '../../../contract/decimal.js';
import type { Decimal } from '../../../contract/decimal.js';
import type { PriceModel } from '../price/price-model.js';
import type { PricingTrace, RatedCharge } from './pricing-trace.js';
import { rateFlatFee } from './rate-flat-fee.js';
import { ratePackage } from './rate-package.js';
import { rateTieredSlab } from './rate-tiered-slab.js';
import { rateTieredVolume } from './rate-tiered-volume.js';

/**
 * The charge of a price for a quantity (docs/domain.md 8), unrounded, with the steps it is the sum
 * of. Quantity 0 costs nothing in every model: no flat amount, no package.
 * @throws RangeError for a negative quantity.
 * @throws TypeError for a price that lacks what its model needs; `completePrice` never makes one.
 */
export function ratePrice(price: PriceModel, quantity: Decimal): RatedCharge {
  if (quantity.isZero()) return { amount: ZERO, trace: emptyTrace(price) };
  if (quantity.isNegative()) throw new RangeError('a quantity cannot be negative');
  switch (price.billingModel) {
    case 'FLAT_FEE':
      return rateFlatFee(present(price.amount, 'amount'), quantity);
    case 'PACKAGE': {
      const transform = present(price.transformQuantity, 'transform_quantity');
      return ratePackage(present(price.amount, 'amount'), transform, quantity);
    }
    case 'TIERED':
      return rateTiers(price, quantity);
  }
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

function emptyTrace(price: PriceModel): PricingTrace {
  return {
    billingModel: price.billingModel,
    tierMode: price.billingModel === 'TIERED' ? price.tierMode : null,
    steps: [],
    packages: price.billingModel === 'PACKAGE' ? ZERO : null,
  };
}

function present<T>(member: T | null, name: string): T {
  if (member === null) throw new TypeError(`the price has no ${name}`);
  return member;
}
