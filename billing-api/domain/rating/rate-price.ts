import { ZERO } from '../../../contract/number/decimal.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { PriceModel } from '../price/price-model.js';
import { PRICE_MODELS } from './price-models.js';
import type { RatedCharge } from './pricing-trace.js';

/**
 * The charge of a price for a quantity (docs/domain.md 8), unrounded, with the steps it is the sum
 * of. Quantity 0 costs nothing in every model: no flat amount, no package.
 * @throws RangeError for a negative quantity.
 * @throws TypeError for a price that lacks what its model needs; `completePrice` never makes one.
 */
export function ratePrice(price: PriceModel, quantity: Decimal): RatedCharge {
  const { billingModel } = price;
  const model = PRICE_MODELS[billingModel];
  if (quantity.isZero()) {
    const { tierMode, packages } = model.nothing(price);
    // In the order of every trace: the bytes of a computation are kept and compared.
    return { amount: ZERO, trace: { billingModel, tierMode, steps: [], packages } };
  }
  if (quantity.isNegative()) throw new RangeError('a quantity cannot be negative');
  return model.rate(price, quantity);
}
