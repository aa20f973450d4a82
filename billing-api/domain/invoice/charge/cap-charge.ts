import { maxOf, minOf, ZERO, type Decimal } from '../../../../contract/number/decimal.js';
import type { CommittedCharge } from './commit-line.js';
import type { RatedLine } from './rated-line.js';

/** Takes an amount off a committed charge: off its overage, then its true-up, then what is used. */
function cutCommitted(committed: CommittedCharge, cut: Decimal): CommittedCharge {
  const overage = maxOf(ZERO, committed.overage.minus(cut));
  const afterOverage = cut.minus(committed.overage.minus(overage));
  const trueUp = maxOf(ZERO, committed.trueUp.minus(afterOverage));
  const afterTrueUp = afterOverage.minus(committed.trueUp.minus(trueUp));
  const utilized = committed.utilized.minus(afterTrueUp);
  return { ...committed, utilized, overage, trueUp, charge: committed.charge.minus(cut) };
}

/**
 * Charges a usage line no more than the maximum of its price leaves (docs/domain.md 8.8).
 * @param chargedBefore what the lines that it continues were charged in the same period.
 */
export function capCharge(rated: RatedLine, chargedBefore: Decimal): RatedLine {
  const { maxAmount: maximum } = rated.billable.lineItem.price;
  if (maximum === undefined) return rated;
  const charge = minOf(rated.charge, maxOf(ZERO, maximum.minus(chargedBefore)));
  const { committed } = rated;
  const cut = rated.charge.minus(charge);
  return {
    ...rated,
    charge,
    committed: committed === null ? null : cutCommitted(committed, cut),
    maximum: { maximum, chargedBefore, uncapped: rated.charge },
  };
}
