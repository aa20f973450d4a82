import type { Decimal } from '../../../contract/decimal.js';
import { roundMoney } from '../money.js';
import type { Price } from '../price/price.js';
import { ratePrice } from './rate-price.js';

/**
 * The cost of a quantity at a price, rounded like an invoice line. Null for buckets with a price
 * that charges each bucket by itself (docs/domain.md 8.5): the sum of the buckets does not
 * determine it.
 */
export function costOfUsage(
  price: Price,
  usage: { readonly quantity: Decimal; readonly hasBuckets: boolean },
): Decimal | null {
  if (usage.hasBuckets && price.billingModel !== 'FLAT_FEE') return null;
  return roundMoney(ratePrice(price, usage.quantity).amount, price.currency);
}
