import { maxOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import { paidForRest, type AdvanceCharge } from './unused-charge.js';

/** What is left of a period that was charged in advance. */
export type ChargedRest = {
  /** What is left of the period, or of the line in it, and its share of a full charge. */
  readonly rest: Interval;
  readonly proration: Proration;
  /** Of the line item and those that it continues. */
  readonly charges: readonly AdvanceCharge[];
  readonly pauses: readonly Interval[];
  /** The share of a charge that the percentage coupons of the period leave. */
  readonly left: Decimal;
};

/** The part of the rest in what fixed discounts took off the charges of the period. */
export function fixedOffRest({ charges, pauses, rest, left }: ChargedRest): Decimal {
  const fixed = charges.flatMap(({ period, net, gross }) =>
    gross === undefined ? [] : [{ period, net: maxOf(ZERO, gross.times(left).minus(net)) }],
  );
  return paidForRest(fixed, pauses, rest);
}

/**
 * What a full charge costs for the rest of a period, after its discounts: percentages, and the part
 * of the rest in fixed ones, which stay where they are (docs/domain.md 23.2).
 */
export function costOfRest(full: Decimal, charged: ChargedRest): Decimal {
  const { proration, left } = charged;
  const cost = full.times(left).times(proration.coveredMs).dividedBy(proration.fullMs);
  return maxOf(ZERO, cost.minus(fixedOffRest(charged)));
}
