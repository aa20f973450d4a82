import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';
import { isLonger, onePeriod, type BilledEvery } from '../calendar/billing-length.js';
import { gridPeriodAt } from '../calendar/billing-boundaries.js';
import { billedFromMs, currentPeriod, lifeOf } from '../periods/ledger-periods.js';
import { ownPeriodAt } from '../periods/own-periods.js';
import type { PeriodLedger } from '../periods/period-ledger.js';

/** What a commitment belongs to, and how long it lasts. */
export type CommitmentSpan = {
  /** As requested; null means the billing period. */
  readonly duration: BillingPeriod | null;
  /** The billing period of the line; that of the subscription for its own commitment. */
  readonly every: BilledEvery;
  /** Its length in billing periods of the subscription. */
  readonly steps: number;
  /** Where its windows are counted from; absent for where the subscription is billed from. */
  readonly windowsFromMs?: InstantMs | undefined;
};

/**
 * The commitment window for an instant (docs/domain.md 11.2): the billing period that contains it,
 * as it would be without threshold invoices; or, if the commitment lasts longer, the window of that
 * duration that contains the start of the billing period. Longer windows are counted from the start
 * of the subscription with which the commitment began, or from the end of its trial, and clamped to
 * short months.
 */
export function commitmentWindowAt(
  ledger: PeriodLedger,
  instant: InstantMs,
  { duration, every, steps, windowsFromMs }: CommitmentSpan,
): Interval {
  const period = ownPeriodAt(ledger, steps, instant) ?? currentPeriod(ledger, instant);
  const { startMs, endMs } = period;
  if (duration === null || !isLonger(onePeriod(duration), every)) return { startMs, endMs };
  const grid = {
    timezone: ledger.timezone,
    billingCycle: 'anniversary' as const,
    billingAnchorMs: windowsFromMs ?? billedFromMs(ledger),
    billingPeriod: duration,
    billingPeriodCount: 1,
  };
  return gridPeriodAt(grid, startMs);
}

/**
 * Whether a period is the last of a commitment window, so that a true-up is due: it ends with or
 * after the window, or with the subscription (docs/domain.md 11.2).
 */
export function isLastOf(window: Interval, period: Interval, ledger: PeriodLedger): boolean {
  return period.endMs >= Math.min(window.endMs, lifeOf(ledger).endMs);
}
