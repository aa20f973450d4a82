import { maxOf, minOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { allocateByWeight } from '../money/allocate.js';
import { Money } from '../money/money.js';

/** A charge in advance of a line item, or of one that it continues. */
export type SplitCharge = {
  readonly lineId: string;
  readonly period: Interval;
  /** After discounts. */
  readonly net: Decimal;
  /** What notes, refunds and credits have left of it, without taxes. */
  readonly left: Decimal;
};

/** What is given back, for which time. */
type SplitCredit = { readonly amount: Decimal; readonly period: Interval };

/** What of a charge is for the time from the start of a credit on. */
function laterPart({ period, net }: SplitCharge, { period: of }: SplitCredit): Decimal {
  const coveredMs = Math.min(period.endMs, of.endMs) - Math.max(period.startMs, of.startMs);
  // What has no time of its own is given back as a whole.
  if (period.endMs <= period.startMs) return maxOf(ZERO, net);
  const share = maxOf(ZERO, net.times(Math.max(coveredMs, 0)));
  return share.dividedBy(period.endMs - period.startMs);
}

/**
 * The charges that a credit gives back: those of its time, or where pauses moved it, the last one
 * that began before it.
 */
function chargesOf(charges: readonly SplitCharge[], credit: SplitCredit): readonly SplitCharge[] {
  const later = charges.filter((charge) => laterPart(charge, credit).greaterThan(ZERO));
  if (later.length > 0) return later;
  const before = charges.filter(({ period }) => period.startMs <= credit.period.startMs);
  return before.length > 0 ? before.slice(-1) : charges.slice(0, 1);
}

/** What a credit gives back of a line of an invoice, without taxes. */
export type CreditPart = { readonly lineId: string; readonly amount: Decimal };

/**
 * Splits a credit over the charges that it gives back, to the smallest unit (docs/domain.md 23.1).
 * The share of a charge follows its cost for its time. It is at most what is left of the charge,
 * which has limited the credit before.
 * @param charges by their start.
 */
export function splitCredit(
  charges: readonly SplitCharge[],
  credit: SplitCredit,
  currency: string,
): readonly CreditPart[] {
  const own = chargesOf(charges, credit);
  const weights = new Map(
    own.map((one) => [one, minOf(laterPart(one, credit), maxOf(ZERO, one.left))]),
  );
  const isAllGone = [...weights.values()].every((weight) => weight.isZero());
  if (own.length < 2 || isAllGone) {
    return own.slice(0, 1).map(({ lineId }) => ({ lineId, amount: credit.amount }));
  }
  const parts = allocateByWeight(new Money(credit.amount, currency), own, (charge) =>
    mustGet(weights, charge, 'the weight of a charge'),
  );
  return parts
    .map(([{ lineId }, { value: amount }]) => ({ lineId, amount }))
    .filter(({ amount }) => amount.greaterThan(ZERO));
}
