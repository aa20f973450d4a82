import { maxOf, minOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import { roundDifference } from '../money/money.js';
import { paidForRest, unusedAmount, type AdvanceCharge } from './unused-charge.js';

/** What the terms of a line say for the rest of a period that is charged in advance. */
export type TermsOfRest = {
  /** What is left of the period, or of the line in it, and its share of a full charge. */
  readonly rest: Interval;
  readonly proration: Proration;
  /** What a full period costs, before discounts; 0 where the line ends. */
  readonly full: Decimal;
  /** The share of a charge that the percentage coupons of the period leave. */
  readonly left: Decimal;
};

/** What a line item and those that it continues were charged in advance, and given back. */
export type ChargedTime = {
  readonly charges: readonly AdvanceCharge[];
  readonly pauses: readonly Interval[];
};

/** What is charged more for the rest of a period, or given back (then below 0). */
export type Difference = {
  /** Rounded once. */
  readonly amount: Decimal;
  readonly exact: Decimal;
};

/** The part of the rest in what fixed discounts took off the charges of the period. */
function fixedOffRest({ rest, left }: TermsOfRest, { charges, pauses }: ChargedTime): Decimal {
  const fixed = charges.flatMap(({ period, net, gross }) =>
    gross === undefined ? [] : [{ period, net: maxOf(ZERO, gross.times(left).minus(net)) }],
  );
  return paidForRest(fixed, pauses, rest);
}

/**
 * What terms owe in advance for the rest of a period, after its discounts: percentages, and the
 * part of the rest in fixed ones, which stay where they are (docs/domain.md 23.2).
 */
export function owedInAdvance(terms: TermsOfRest, charged: ChargedTime): Decimal {
  const { full, left, proration } = terms;
  const cost = full.times(left).times(proration.coveredMs).dividedBy(proration.fullMs);
  return maxOf(ZERO, cost.minus(fixedOffRest(terms, charged)));
}

/**
 * What terms owe for the rest of a period, less what was charged for it and not given back, rounded
 * once (docs/domain.md 23.8). No more comes back than credit notes and refunds have left. Settled
 * twice it is nothing, and there and back costs nothing.
 */
export function settle(terms: TermsOfRest, charged: ChargedTime, currency: string): Difference {
  const { charges, pauses } = charged;
  const { rest } = terms;
  const owed = owedInAdvance(terms, charged);
  const difference = owed.minus(paidForRest(charges, pauses, rest));
  const most = unusedAmount(charges, pauses, rest.startMs);
  const exact = difference.isNegative() ? minOf(difference.negated(), most).negated() : difference;
  return { exact, amount: roundDifference(exact, currency) };
}
