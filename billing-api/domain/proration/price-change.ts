import { minOf, type Decimal } from '../../../contract/decimal.js';
import { roundToMinorDigits } from '../money/money.js';
import { costOfRest, type ChargedRest } from './cost-of-rest.js';
import { paidForRest, unusedAmount } from './unused-charge.js';

/** A price that changes inside a period that was charged in advance. */
export type PriceChange = ChargedRest & {
  /** A full charge of the new price for the new quantity, without discounts. */
  readonly full: Decimal;
  readonly currency: string;
};

/** What is charged more, or less (then below 0). */
export type SettledChange = {
  /** Rounded: the charge and the credit each by itself (docs/domain.md 6.4). */
  readonly amount: Decimal;
  readonly exact: Decimal;
};

/**
 * The charge of the rest of a period by the new price, less what is paid for it by the old one and
 * unused (docs/domain.md 23.1, 23.2).
 */
export function settlePrice(change: PriceChange): SettledChange {
  const { full, charges, pauses, rest, currency } = change;
  const due = costOfRest(full, change);
  const paid = paidForRest(charges, pauses, rest);
  const unused = minOf(paid, unusedAmount(charges, pauses, rest.startMs));
  return {
    exact: due.minus(unused),
    amount: roundToMinorDigits(due, currency).minus(roundToMinorDigits(unused, currency)),
  };
}
