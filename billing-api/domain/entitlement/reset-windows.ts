import type { InstantMs, Interval } from '../../../contract/instant.js';
import { onePeriod, wholePeriodsIn } from '../calendar/billing-length.js';
import { billedFromMs, lifeOf } from '../periods/ledger-periods.js';
import { anchoredPeriodAt, ownPeriodAt } from '../periods/own-periods.js';
import type { PeriodLedger } from '../periods/period-ledger.js';
import { windowsIn } from '../calendar/usage-windows.js';
import type { UsageResetPeriod } from './entitlement.js';

/** The consecutive periods from the start of an interval to its end. */
function periodsIn(
  interval: Interval,
  periodAt: (instant: InstantMs) => Interval | null,
): readonly Interval[] {
  const periods: Interval[] = [];
  let instant = interval.startMs;
  while (instant < interval.endMs) {
    const period = periodAt(instant);
    if (period === null) break;
    periods.push(period);
    instant = period.endMs;
  }
  return periods;
}

/**
 * The reset windows of an allowance that overlap an interval of the subscription's billed life,
 * uncut and in the order of time (docs/domain.md 10.2). DAILY windows are local dates. Windows of a
 * whole number of billing periods go on where the anchor moves; all others are counted from the
 * anchor in force and keep its time of day. Without a reset period they are the billing periods as
 * they would be without threshold invoices.
 */
export function resetWindowsIn(
  interval: Interval,
  resetPeriod: UsageResetPeriod | null,
  ledger: PeriodLedger,
): readonly Interval[] {
  if (resetPeriod === 'NEVER') {
    return [{ startMs: billedFromMs(ledger), endMs: lifeOf(ledger).endMs }];
  }
  const steps = resetPeriod === null ? 1 : wholePeriodsIn(onePeriod(resetPeriod), ledger);
  if (steps !== null) return periodsIn(interval, (instant) => ownPeriodAt(ledger, steps, instant));
  if (resetPeriod === null || resetPeriod === 'DAILY') {
    const { timezone } = ledger;
    return windowsIn(interval, { size: 'DAY', timezone, anchorMs: null });
  }
  return periodsIn(interval, (instant) => anchoredPeriodAt(ledger, resetPeriod, instant));
}
