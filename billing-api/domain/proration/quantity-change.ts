import { minOf, type Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import type { PriceModel } from '../price/price-model.js';
import { ratePrice } from '../rating/rate-price.js';
import { paidForRest, unusedAmount, type AdvanceCharge } from './unused-charge.js';

/** A quantity that changes inside a period that was charged in advance. */
export type QuantityChange = {
  readonly price: PriceModel;
  readonly from: Decimal;
  readonly to: Decimal;
  /** What is left of the period, or of the line in it, and its share of a full charge. */
  readonly rest: Interval;
  readonly proration: Proration;
  /** Of the line item and those that it continues. */
  readonly charges: readonly AdvanceCharge[];
  readonly pauses: readonly Interval[];
};

/**
 * What a change of quantity costs more, or less (then below 0), before it is rounded
 * (docs/domain.md 27). What costs less is given back as it was paid, and no more than is unused.
 */
export function settleQuantity(change: QuantityChange): Decimal {
  const { price, from, to, proration, charges, pauses, rest } = change;
  const before = ratePrice(price, from).amount;
  const more = ratePrice(price, to).amount.minus(before);
  if (!more.isNegative()) return more.times(proration.coveredMs).dividedBy(proration.fullMs);
  const credit = paidForRest(charges, pauses, rest).times(more.negated()).dividedBy(before);
  return minOf(credit, unusedAmount(charges, pauses, rest.startMs)).negated();
}
