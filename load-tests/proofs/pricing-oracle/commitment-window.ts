import { add, zero, type Fraction } from '../usage-oracle/fraction.js';
import type { Range } from '../usage-oracle/windows.js';
import { advance, monthsOf, type BillingPeriod } from './billing-grid.js';
import { firstBilledStart } from './period-ledger.js';
import { endOf, type Subscription } from './subscription.js';

/** Whether a commitment runs over several billing periods (docs/domain.md 11.2). */
export function isLongerThanPeriod(
  { length }: Subscription,
  duration: BillingPeriod | null,
): duration is BillingPeriod {
  if (duration === null) return false;
  return (monthsOf({ period: duration, count: 1 }) ?? 0) > (monthsOf(length) ?? 0);
}

/**
 * The window that contains the start of a billing period. Neither pauses nor a moved anchor move
 * the windows (docs/domain.md 11.2).
 */
export function commitmentWindowOf(
  subscription: Subscription,
  duration: BillingPeriod,
  periodStart: number,
): Range {
  const length = { period: duration, count: 1 };
  const from = firstBilledStart(subscription);
  const boundary = (times: number): number => advance(subscription.zone, from, { length, times });
  let times = 0;
  while (boundary(times + 1) <= periodStart) times += 1;
  return { start: boundary(times), end: boundary(times + 1) };
}

/** An amount that an earlier invoice, DRAFT or FINALIZED, used of a commitment. */
export type EarlierUse = { readonly periodStart: number; readonly amount: Fraction };

/** What earlier billing periods of the window used. */
export function priorIn(window: Range, earlier: readonly EarlierUse[]): Fraction {
  return earlier
    .filter(({ periodStart }) => periodStart >= window.start && periodStart < window.end)
    .reduce((total, { amount }) => add(total, amount), zero);
}

/** The last billing period of a window, or of the subscription, which ends the window early. */
export function isLastOf(window: Range, period: Range, subscription: Subscription): boolean {
  return period.end >= window.end || period.end === endOf(subscription);
}
