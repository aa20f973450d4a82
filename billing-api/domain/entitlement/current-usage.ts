import type { AggregationType } from '../../../contract/aggregation.js';
import { Decimal, maxOf, ZERO } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { WindowGrid, WindowSize } from '../calendar/usage-windows.js';
import { anchorMsAt, billedFromMs, lifeOf, periodAt } from '../periods/ledger-periods.js';
import type { PeriodLedger } from '../periods/period-ledger.js';
import type { UsageResetPeriod } from './entitlement.js';
import { firstBucketMs } from './line-allowance.js';
import { resetWindowsIn } from './reset-windows.js';

type CountedMeter = {
  readonly aggregationType: AggregationType;
  readonly resetUsage: 'BILLING_PERIOD' | 'NEVER';
  readonly bucketSize: WindowSize | null;
};

/** The usage that is held against a limit now (docs/domain.md 10.3). */
export type CurrentUsageWindow = {
  /** The usage to count, up to the end of the current billing period at most. */
  readonly range: Interval;
  readonly timezone: string;
  /** From which MONTH buckets are counted. */
  readonly anchorMs: InstantMs;
  /** When it begins again at 0; null when it never does. */
  readonly resetsAtMs: InstantMs | null;
};

type Current = {
  readonly ledger: PeriodLedger;
  readonly resetPeriod: UsageResetPeriod | null;
  readonly meter: CountedMeter;
};

/** The window that contains an instant. A trial is one: its usage is held against no later one. */
function windowOf({ ledger, resetPeriod, meter }: Current, now: InstantMs): Interval | null {
  const period = periodAt(ledger, now);
  if (period === null || period.kind === 'trial') return period;
  if (meter.resetUsage === 'NEVER') {
    return { startMs: billedFromMs(ledger), endMs: lifeOf(ledger).endMs };
  }
  const [window] = resetWindowsIn({ startMs: now, endMs: now + 1 }, resetPeriod, ledger);
  if (window === undefined) return null;
  return { ...window, startMs: Math.max(window.startMs, billedFromMs(ledger)) };
}

/** The window of a limit that contains an instant of the subscription's life; else null. */
export function currentUsageWindow(current: Current, now: InstantMs): CurrentUsageWindow | null {
  const { ledger, meter } = current;
  const window = windowOf(current, now);
  const period = periodAt(ledger, now);
  if (window === null || period === null) return null;
  const { timezone } = ledger;
  const anchorMs = anchorMsAt(ledger, now);
  const { bucketSize: size } = meter;
  const bucketGrid: WindowGrid | null = size === null ? null : { size, timezone, anchorMs };
  const startMs = firstBucketMs(window.startMs, { meter, bucketGrid, ledger });
  // What the end of the subscription cuts off does not begin again.
  const isReset = meter.resetUsage === 'BILLING_PERIOD' && window.endMs < lifeOf(ledger).endMs;
  return {
    range: { startMs, endMs: Math.max(startMs, Math.min(window.endMs, period.endMs)) },
    timezone,
    anchorMs,
    resetsAtMs: isReset ? window.endMs : null,
  };
}

const PERCENT_DIGITS = 2;
const HUNDRED = new Decimal(100);

/**
 * The share of a limit that is used, in percent, rounded half-up to two digits. Of a limit of 0
 * nothing is 0 and anything is 100.
 */
export function usagePercent(usage: Decimal, limit: Decimal): Decimal {
  const used = maxOf(ZERO, usage);
  if (limit.isZero()) return used.isZero() ? ZERO : HUNDRED;
  return used
    .times(HUNDRED)
    .dividedBy(limit)
    .toDecimalPlaces(PERCENT_DIGITS, Decimal.ROUND_HALF_UP);
}
