import { maxOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { allocateByWeight } from '../money/allocate.js';
import { Money } from '../money/money.js';

/** A charge in advance or a credit of one, by what it belongs to and for which time it is. */
export type Credited = {
  /** The line item, or the first one of those that continue each other. */
  readonly ownerId: string;
  readonly period: Interval;
  readonly amount: Decimal;
};

export type CreditedCharge = Credited & { readonly lineId: string };

/** What of a charge is for the time from the start of a credit on. */
function laterPart(
  { period, amount }: Credited,
  { period: { startMs, endMs } }: Credited,
): Decimal {
  const coveredMs = Math.min(period.endMs, endMs) - Math.max(period.startMs, startMs);
  const share = maxOf(ZERO, amount.times(Math.max(coveredMs, 0)));
  return share.dividedBy(period.endMs - period.startMs);
}

/** The charges that a credit gives back: those of its time, or where pauses moved it, the last. */
function chargesOf(charges: readonly CreditedCharge[], credit: Credited) {
  const own = charges.filter(({ ownerId }) => ownerId === credit.ownerId);
  const later = own.filter((charge) => laterPart(charge, credit).greaterThan(ZERO));
  return later.length > 0 ? later : own.slice(-1);
}

/** The part of a credit that falls to each of the charges that it gives back. */
function partsOf(
  charges: readonly CreditedCharge[],
  credit: Credited,
  currency: string,
): readonly (readonly [CreditedCharge, Decimal])[] {
  const { amount } = credit;
  if (charges.length < 2) return charges.map((charge) => [charge, amount]);
  const parts = allocateByWeight(new Money(amount, currency), charges, (charge) =>
    laterPart(charge, credit),
  );
  return parts.map(([charge, { value }]) => [charge, value]);
}

/** What a credit has given back of a charge. */
export type CreditShare<C extends Credited> = {
  readonly credit: C;
  readonly lineId: string;
  readonly amount: Decimal;
};

/**
 * What credits have given back of charges: a credit is split over the charges of its time in
 * proportion to their parts of that time, to the smallest unit (docs/domain.md 19.2).
 * @param charges by their start.
 */
export function shareCredits<C extends Credited>(
  charges: readonly CreditedCharge[],
  credits: readonly C[],
  currency: string,
): readonly CreditShare<C>[] {
  return credits.flatMap((credit) =>
    partsOf(chargesOf(charges, credit), credit, currency).map(([{ lineId }, amount]) => ({
      ...{ credit, lineId, amount },
    })),
  );
}
