import type { Decimal } from '../../../contract/number/decimal.js';
import type { PriceModel } from '../price/price-model.js';
import { PRICE_MODELS } from './price-models.js';
import { ratePrice } from './rate-price.js';
import type { Charger } from './rated-model.js';

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
 * `ratePrice` without its trace, fast enough for the 43,200 windows of a month of minutes. Finding
 * the last of three tiers takes a quarter of the time of walking all three. Equal counts share one
 * decimal (`decimalOfCount`) and take a single look-up.
 */
export function createCharger(price: PriceModel): Charger {
  const charger = PRICE_MODELS[price.billingModel].charger(price);
  return remembering(charger ?? ((quantity) => ratePrice(price, quantity).amount));
}
