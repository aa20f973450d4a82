import { maxOf, minOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import { roundToMinorDigits } from '../money/money.js';
import { unpausedMs } from '../periods/ledger-periods.js';

/** A charge in advance as an invoice has it: for which time, and what discounts left of it. */
export type AdvanceCharge = {
  readonly period: Interval;
  readonly net: Decimal;
  /** What credit notes and refunds have given back of it, without taxes; absent for nothing. */
  readonly noted?: Decimal;
  /** What it costs without discounts, where a fixed one is among them; else absent. */
  readonly gross?: Decimal;
};

/**
 * What was given back of charges, without the taxes on them, rounded. Taxes are shared
 * by what lines cost (docs/domain.md 19.2).
 * @param taxed what all lines of the invoice cost together.
 */
export function notedWithoutTaxes(
  noted: Decimal,
  { tax, taxed }: { readonly tax: Decimal; readonly taxed: Decimal },
  currency: string,
): Decimal {
  if (noted.isZero() || tax.isZero()) return noted;
  return roundToMinorDigits(noted.times(taxed).dividedBy(taxed.plus(tax)), currency);
}

/** How long a subscription was paused between the start of a period and an instant. */
function pausedMs({ startMs }: Interval, pauses: readonly Interval[], atMs: InstantMs): number {
  if (atMs <= startMs) return 0;
  const until = { startMs, endMs: atMs };
  return atMs - startMs - unpausedMs(until, pauses);
}

/** Where a charged period ends, as pauses have moved it: `E + P` of docs/domain.md 23.1. */
export function movedEnd(
  { period }: Pick<AdvanceCharge, 'period'>,
  pauses: readonly Interval[],
  atMs: InstantMs,
): InstantMs {
  return period.endMs + pausedMs(period, pauses, atMs);
}

/** The share of a charge that is unused at an instant, exact to the millisecond. */
export function unusedShare(
  charge: AdvanceCharge,
  pauses: readonly Interval[],
  atMs: InstantMs,
): Proration {
  const { startMs, endMs } = charge.period;
  const fullMs = endMs - startMs;
  const leftMs = movedEnd(charge, pauses, atMs) - atMs;
  return { coveredMs: Math.min(Math.max(leftMs, 0), fullMs), fullMs };
}

/**
 * What is unused of charges at an instant, before it is rounded, and at most what credit notes and
 * refunds have left of them (docs/domain.md 23.1).
 */
export function unusedAmount(
  charges: readonly AdvanceCharge[],
  pauses: readonly Interval[],
  atMs: InstantMs,
): Decimal {
  const leftOf = ({ net, noted = ZERO }: AdvanceCharge): Decimal => net.minus(noted);
  // What a credit took back of a period that is over does not lower what is left of the next one.
  const covering = charges.filter((charge) => movedEnd(charge, pauses, atMs) > atMs);
  const parts = covering.map((charge) => {
    const { coveredMs, fullMs } = unusedShare(charge, pauses, atMs);
    const unused = charge.net.times(coveredMs).dividedBy(fullMs);
    return unused.isNegative() ? unused : minOf(unused, leftOf(charge));
  });
  return maxOf(ZERO, minOf(sumOf(parts), sumOf(covering.map(leftOf))));
}

/**
 * What was paid for the rest of a period, less what was given back of it. What was charged for
 * later than its end is not of it; credit notes have no time of their own, and do not lower it.
 */
export function paidForRest(
  charges: readonly AdvanceCharge[],
  pauses: readonly Interval[],
  rest: Interval,
): Decimal {
  const paid = charges.map(({ net, period }) => ({ net, period }));
  return unusedAmount(paid, pauses, rest.startMs).minus(unusedAmount(paid, pauses, rest.endMs));
}
