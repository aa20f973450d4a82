import { maxOf, minOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import type { PriceModel } from '../price/price-model.js';
import { ratePrice } from '../rating/rate-price.js';
import { costOfRest, fixedOffRest, type ChargedRest } from './cost-of-rest.js';
import { paidForRest, unusedAmount } from './unused-charge.js';

/** A quantity that changes inside a period that was charged in advance. */
export type QuantityChange = ChargedRest & {
  readonly price: PriceModel;
  readonly from: Decimal;
  readonly to: Decimal;
};

/** What more costs before percentage coupons, which its invoice then takes off. */
function costOfMore(before: Decimal, after: Decimal, charged: ChargedRest): Decimal {
  const { proration, left } = charged;
  const ofRest = (full: Decimal): Decimal =>
    full.times(proration.coveredMs).dividedBy(proration.fullMs);
  const fixed = fixedOffRest(charged);
  if (fixed.isZero() || left.isZero()) return ofRest(after.minus(before));
  const off = fixed.dividedBy(left);
  return maxOf(ZERO, ofRest(after).minus(off)).minus(maxOf(ZERO, ofRest(before).minus(off)));
}

/** What less gives back: what it had cost, and no more than is paid and unused. */
function creditOfLess(before: Decimal, after: Decimal, charged: ChargedRest): Decimal {
  const { charges, pauses, rest } = charged;
  const less = fixedOffRest(charged).isZero()
    ? costOfRest(before.minus(after), charged)
    : costOfRest(before, charged).minus(costOfRest(after, charged));
  const paid = paidForRest(charges, pauses, rest);
  return minOf(less, minOf(paid, unusedAmount(charges, pauses, rest.startMs)));
}

/**
 * What a change of quantity costs more, before percentage coupons, or less (then below 0), after
 * them; before it is rounded (docs/domain.md 27). There and back at one instant is nothing.
 */
export function settleQuantity(change: QuantityChange): Decimal {
  const { price, from, to } = change;
  const before = ratePrice(price, from).amount;
  const after = ratePrice(price, to).amount;
  return after.lessThan(before)
    ? creditOfLess(before, after, change).negated()
    : costOfMore(before, after, change);
}
