import { type Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import { roundToMinorDigits } from '../money/money.js';
import { unusedAmount, type AdvanceCharge } from './unused-charge.js';

/** A price that changes inside a period that was charged in advance. */
export type PriceChange = {
  /** A full charge of the new price for the new quantity. */
  readonly charge: Decimal;
  /** The share of a full charge that is left of the period. */
  readonly proration: Proration;
  readonly atMs: InstantMs;
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
 * The charge of the rest of a period by the new price, less what is unused of the charges by the
 * old one (docs/domain.md 23.1, 23.2).
 */
export function settlePrice(change: PriceChange): SettledChange {
  const { charge, proration, charges, pauses, atMs, currency } = change;
  const due = charge.times(proration.coveredMs).dividedBy(proration.fullMs);
  const unused = unusedAmount(charges, pauses, atMs);
  return {
    exact: due.minus(unused),
    amount: roundToMinorDigits(due, currency).minus(roundToMinorDigits(unused, currency)),
  };
}
