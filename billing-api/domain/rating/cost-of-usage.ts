import type { Decimal } from '../../../contract/number/decimal.js';
import { roundMoney, type Money } from '../money/money.js';
import type { Price } from '../price/price.js';
import { PRICE_MODELS } from './price-models.js';
import { ratePrice } from './rate-price.js';

/**
 * The cost of a quantity at a price, rounded like an invoice line. Null for buckets whose price is
 * not linear: it charges each bucket by itself (docs/domain.md 8.5), so their sum does not
 * determine the cost.
 */
export function costOfUsage(
  price: Price,
  usage: { readonly quantity: Decimal; readonly hasBuckets: boolean },
): Money | null {
  if (usage.hasBuckets && !PRICE_MODELS[price.billingModel].isLinear) return null;
  return roundMoney(ratePrice(price, usage.quantity).amount, price.currency);
}
