import type { Decimal } from '../../../contract/number/decimal.js';
import { sumOf } from '../../../contract/number/decimal.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';

/** What a plan change is, by what the fixed lines cost before and after it. */
export type ChangeType = 'upgrade' | 'downgrade' | 'lateral';

/** A recurring fixed charge: so much for each of its periods. */
export type RecurringCharge = {
  readonly amount: Decimal;
  readonly billingPeriod: BillingPeriod;
  readonly billingPeriodCount: number;
};

/** Days of twelve years of 365 days in each period, so that all lengths have whole numbers. */
const DAYS: Readonly<Record<BillingPeriod, number>> = {
  DAILY: 12,
  WEEKLY: 7 * 12,
  MONTHLY: 365,
  QUARTERLY: 365 * 3,
  HALF_YEARLY: 365 * 6,
  ANNUAL: 365 * 12,
};

/** Digits in which amounts per day are compared: what they differ by beyond is rounding. */
const COMPARED_DIGITS = 20;

/** What charges cost per day, a year having 365 of them. */
function perDay(charges: readonly RecurringCharge[]): Decimal {
  const sum = sumOf(
    charges.map(({ amount, billingPeriod, billingPeriodCount }) =>
      amount.times(12).dividedBy(DAYS[billingPeriod] * billingPeriodCount),
    ),
  );
  return sum.toDecimalPlaces(COMPARED_DIGITS);
}

/** Compares the fixed charges that end with those that begin (docs/domain.md 25.2). */
export function changeTypeOf(
  ended: readonly RecurringCharge[],
  begun: readonly RecurringCharge[],
): ChangeType {
  const difference = perDay(begun).comparedTo(perDay(ended));
  return difference > 0 ? 'upgrade' : difference < 0 ? 'downgrade' : 'lateral';
}
