import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { overlapOf } from '../calendar/interval.js';
import { windowAt, type WindowGrid } from '../calendar/usage-windows.js';
import { billedFromMs, periodAt } from '../periods/ledger-periods.js';
import type { PeriodLedger } from '../periods/period-ledger.js';
import { hasWholeBuckets } from '../usage/aggregation-spec.js';
import type { LineMeter } from '../usage/line-meter.js';
import { effectiveEntitlements } from './effective-entitlement.js';
import type { EntitlementSource, UsageResetPeriod } from './entitlement.js';
import { resetWindowsIn } from './reset-windows.js';

/** One reset window of an allowance, and the two intervals whose usage determines what is free. */
export type ResetWindow = {
  readonly window: Interval;
  /** The part before the usage window that counts; null where there is none. */
  readonly before: Interval | null;
  /** The part up to the end of the usage window that counts. */
  readonly until: Interval;
};

/** The quantity that an entitlement makes free on a usage line (docs/domain.md 10.2). */
export type LineAllowance = {
  /** Null means unlimited. */
  readonly limit: Decimal | null;
  readonly resetPeriod: UsageResetPeriod | null;
  /**
   * In the order of time. Empty for an unlimited allowance, and for a meter with reset_usage NEVER,
   * whose quantity contains all of its history.
   */
  readonly windows: readonly ResetWindow[];
};

/** The line whose allowance is wanted. */
export type AllowanceQuery = {
  readonly meter: LineMeter;
  readonly window: Interval;
  /** How a bucketed meter cuts time; null without buckets. */
  readonly bucketGrid: WindowGrid | null;
  readonly ledger: PeriodLedger;
  readonly entitlements: readonly EntitlementSource[];
};

type BucketedQuery = Pick<AllowanceQuery, 'bucketGrid' | 'ledger'> & {
  readonly meter: Pick<LineMeter, 'aggregationType'>;
};

/**
 * The instant from which buckets belong to a reset window. The value of a MAX bucket cannot be
 * divided: one that begins before the reset window belongs to an earlier one. A bucket begins with
 * the period at the latest, because the usage window of that period cuts it.
 */
export function firstBucketMs(
  startMs: InstantMs,
  { meter, bucketGrid, ledger }: BucketedQuery,
): InstantMs {
  if (bucketGrid === null || !hasWholeBuckets(meter.aggregationType)) return startMs;
  const bucket = windowAt(startMs, bucketGrid);
  const periodStartMs = periodAt(ledger, startMs)?.startMs ?? startMs;
  return Math.max(bucket.startMs, periodStartMs) < startMs ? bucket.endMs : startMs;
}

/** Usage before the start of the subscription or the end of its trial does not count. */
function resetWindowOf(window: Interval, query: AllowanceQuery): ResetWindow {
  const { window: used, ledger } = query;
  const startMs = Math.max(window.startMs, billedFromMs(ledger));
  const countedMs = firstBucketMs(startMs, query);
  return {
    window,
    before: overlapOf(
      { startMs: countedMs, endMs: window.endMs },
      { startMs, endMs: used.startMs },
    ),
    until: { startMs, endMs: Math.min(window.endMs, used.endMs) },
  };
}

/** The sum of the limits of all features of the meter; null (unlimited) if one is unlimited. */
function sumOf(limits: readonly (Decimal | null)[]): Decimal | null {
  return limits.reduce((sum, limit) => (sum === null || limit === null ? null : sum.plus(limit)));
}

/**
 * The allowance of a usage line; null when its meter has no enabled entitlement. If several
 * features of the meter have one, validation makes their reset periods equal; the first is taken.
 */
export function allowanceOfLine(query: AllowanceQuery): LineAllowance | null {
  const { meter, window, ledger } = query;
  const entitled = effectiveEntitlements(query.entitlements, window.endMs - 1).filter(
    ({ featureType, meterId }) => featureType === 'metered' && meterId === meter.id,
  );
  if (entitled.length === 0) return null;
  const limit = sumOf(entitled.map(({ usageLimit }) => usageLimit));
  const resetPeriod = entitled.find((one) => one.usageResetPeriod !== null)?.usageResetPeriod;
  const isReset = limit !== null && meter.resetUsage === 'BILLING_PERIOD';
  const windows = isReset ? resetWindowsIn(window, resetPeriod ?? null, ledger) : [];
  return {
    limit,
    resetPeriod: resetPeriod ?? null,
    windows: windows.map((of) => resetWindowOf(of, query)),
  };
}
