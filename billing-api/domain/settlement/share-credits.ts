import { addAt, maxOf, minOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { allocateByWeight } from '../money/allocate.js';
import { Money } from '../money/money.js';

/** A charge in advance or a credit of one, by what it belongs to and for which time it is. */
export type Credited = {
  /** The line item, or the first one of those that continue each other. */
  readonly ownerId: string;
  readonly period: Interval;
  readonly amount: Decimal;
};

export type CreditedCharge = Credited & {
  readonly lineId: string;
  /** What credit notes have given back of it, without taxes; absent for nothing. */
  readonly noted?: Decimal;
};

/** What of a charge is for the time from the start of a credit on. */
function laterPart(
  { period, amount }: Credited,
  { period: { startMs, endMs } }: Credited,
): Decimal {
  const coveredMs = Math.min(period.endMs, endMs) - Math.max(period.startMs, startMs);
  const share = maxOf(ZERO, amount.times(Math.max(coveredMs, 0)));
  return share.dividedBy(period.endMs - period.startMs);
}

/**
 * The charges that a credit gives back: those of its time, or where pauses moved it, the last one
 * that began before it.
 */
function chargesOf(charges: readonly CreditedCharge[], credit: Credited) {
  const own = charges.filter(({ ownerId }) => ownerId === credit.ownerId);
  const later = own.filter((charge) => laterPart(charge, credit).greaterThan(ZERO));
  if (later.length > 0) return later;
  const before = own.filter(({ period }) => period.startMs <= credit.period.startMs);
  return before.length > 0 ? before.slice(-1) : own.slice(0, 1);
}

/**
 * The part of a credit that falls to each of the charges that it gives back: by what each costs for
 * its time, and no more than notes and earlier credits have left, which the credit was limited by.
 */
function partsOf(
  charges: readonly CreditedCharge[],
  credit: Credited,
  { given, currency }: { readonly given: ReadonlyMap<string, Decimal>; readonly currency: string },
): readonly (readonly [CreditedCharge, Decimal])[] {
  const { amount } = credit;
  if (charges.length < 2) return charges.map((charge) => [charge, amount]);
  const weights = new Map(
    charges.map((charge) => {
      // Absent means zero: nothing of it was given back before.
      const before = (charge.noted ?? ZERO).plus(given.get(charge.lineId) ?? ZERO);
      const left = maxOf(ZERO, charge.amount.minus(before));
      return [charge, minOf(laterPart(charge, credit), left)];
    }),
  );
  const isAllGone = [...weights.values()].every((weight) => weight.isZero());
  const parts = allocateByWeight(new Money(amount, currency), charges, (charge) =>
    isAllGone ? laterPart(charge, credit) : mustGet(weights, charge, 'the weight of a charge'),
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
 * proportion to their parts of that time, as far as notes have left them, to the smallest unit
 * (docs/domain.md 19.2).
 * @param charges by their start.
 */
export function shareCredits<C extends Credited>(
  charges: readonly CreditedCharge[],
  credits: readonly C[],
  currency: string,
): readonly CreditShare<C>[] {
  const given = new Map<string, Decimal>();
  return credits.flatMap((credit) => {
    const parts = partsOf(chargesOf(charges, credit), credit, { given, currency });
    return parts.map(([{ lineId }, amount]) => {
      addAt(given, lineId, amount);
      return { credit, lineId, amount };
    });
  });
}
