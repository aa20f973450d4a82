import type { Decimal } from '../../../contract/decimal.js';
import { roundMoney } from '../money.js';
import type { Price } from '../price/price.js';
import { ratePrice } from '../rating/rate-price.js';

/**
 * What a usage costs at a price, rounded as a line of an invoice is; null for buckets of a price
 * that charges each of them anew (domain.md 8.5), whose sum tells nothing about the charge.
 */
export function costOfUsage(
  price: Price,
  usage: { readonly quantity: Decimal; readonly hasBuckets: boolean },
): Decimal | null {
  if (usage.hasBuckets && price.billingModel !== 'FLAT_FEE') return null;
  return roundMoney(ratePrice(price, usage.quantity).amount, price.currency);
}
