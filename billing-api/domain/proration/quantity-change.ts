import { minOf, sumOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import type { PriceModel } from '../price/price-model.js';
import { ratePrice } from '../rating/rate-price.js';
import { unusedAmount, type AdvanceCharge } from './unused-charge.js';

/** What was charged for a line item in advance, beside its amount before discounts. */
export type PaidCharge = AdvanceCharge & { readonly amount: Decimal };

/** A quantity that changes inside a period that was charged in advance. */
export type QuantityChange = {
  readonly price: PriceModel;
  readonly from: Decimal;
  readonly to: Decimal;
  readonly atMs: InstantMs;
  /** The share of a full charge that is left of the period. */
  readonly proration: Proration;
  /** Of the line item and those that it continues. */
  readonly charges: readonly PaidCharge[];
  readonly pauses: readonly Interval[];
};

/**
 * What a change of quantity costs more, or less (then below 0), before it is rounded
 * (docs/domain.md 27). What costs less is given back as it was paid, and no more than is unused.
 */
export function settleQuantity(change: QuantityChange): Decimal {
  const { price, from, to, proration, charges, pauses, atMs } = change;
  const full = ratePrice(price, to).amount.minus(ratePrice(price, from).amount);
  const difference = full.times(proration.coveredMs).dividedBy(proration.fullMs);
  if (!difference.isNegative()) return difference;
  const amount = sumOf(charges.map((charge) => charge.amount));
  if (amount.lessThanOrEqualTo(ZERO)) return ZERO;
  const net = sumOf(charges.map((charge) => charge.net));
  const credit = difference.negated().times(net).dividedBy(amount);
  return minOf(credit, unusedAmount(charges, pauses, atMs)).negated();
}
