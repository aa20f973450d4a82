import { minOf, type Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import { roundToMinorDigits } from '../money/money.js';
import { paidForRest, unusedAmount, type AdvanceCharge } from './unused-charge.js';

/** A price that changes inside a period that was charged in advance. */
export type PriceChange = {
  /** A full charge of the new price for the new quantity. */
  readonly charge: Decimal;
  /** What is left of the period, or of the line in it, and its share of a full charge. */
  readonly rest: Interval;
  readonly proration: Proration;
  /** Of the line item and those that it continues. */
  readonly charges: readonly AdvanceCharge[];
  readonly pauses: readonly Interval[];
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
  const { charge, proration, charges, pauses, rest, currency } = change;
  const due = charge.times(proration.coveredMs).dividedBy(proration.fullMs);
  const paid = paidForRest(charges, pauses, rest);
  const unused = minOf(paid, unusedAmount(charges, pauses, rest.startMs));
  return {
    exact: due.minus(unused),
    amount: roundToMinorDigits(due, currency).minus(roundToMinorDigits(unused, currency)),
  };
}
