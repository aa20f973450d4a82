import type { BillingPeriod } from './billing-grid.js';

/** The length of a billing period (docs/domain.md 9.4); lengths of different units never match. */
export type BillingLength = { readonly unit: 'day' | 'week' | 'month'; readonly count: number };

const LENGTHS: Readonly<Record<BillingPeriod, BillingLength>> = {
  DAILY: { unit: 'day', count: 1 },
  WEEKLY: { unit: 'week', count: 1 },
  MONTHLY: { unit: 'month', count: 1 },
  QUARTERLY: { unit: 'month', count: 3 },
  HALF_YEARLY: { unit: 'month', count: 6 },
  ANNUAL: { unit: 'month', count: 12 },
};

/** Members that a billing length is made of. */
export type BilledEvery = {
  readonly billingPeriod: BillingPeriod;
  readonly billingPeriodCount: number;
};

/** The length of one billing period, count included: MONTHLY × 3 equals QUARTERLY. */
export function billingLengthOf(every: BilledEvery): BillingLength {
  const { unit, count } = LENGTHS[every.billingPeriod];
  return { unit, count: count * every.billingPeriodCount };
}

/** One period of a kind, such as the duration of a commitment. */
export function onePeriod(billingPeriod: BillingPeriod): BilledEvery {
  return { billingPeriod, billingPeriodCount: 1 };
}

/**
 * How many billing periods of `shorter` make one of `longer`; null unless that is a whole number of
 * 1 or more.
 */
export function wholePeriodsIn(longer: BilledEvery, shorter: BilledEvery): number | null {
  const [long, short] = [billingLengthOf(longer), billingLengthOf(shorter)];
  if (long.unit !== short.unit || long.count % short.count !== 0) return null;
  return long.count / short.count;
}

/** Whether `period` is as long as two or more whole periods of `than`. */
export function isLonger(period: BilledEvery, than: BilledEvery): boolean {
  return (wholePeriodsIn(period, than) ?? 1) > 1;
}
