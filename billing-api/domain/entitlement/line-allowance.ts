import type { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { overlapOf } from '../calendar/interval.js';
import type { LineMeter } from '../usage/line-meter.js';
import type { PeriodTerms } from '../calendar/billing-grid.js';
import { effectiveEntitlements } from './effective-entitlement.js';
import type { EntitlementSource, UsageResetPeriod } from './entitlement.js';
import { resetWindowsIn } from './reset-windows.js';

/** One reset window of an allowance, and the two intervals whose usage decides about it. */
export type ResetWindow = {
  readonly window: Interval;
  /** Its part before the usage window, as far as it counts; null where there is none. */
  readonly before: Interval | null;
  /** Its part up to the end of the usage window, as far as it counts. */
  readonly until: Interval;
};

/** What a usage line has free (domain.md 10.2). */
export type LineAllowance = {
  /** Null means unlimited. */
  readonly limit: Decimal | null;
  readonly resetPeriod: UsageResetPeriod | null;
  /**
   * In the order of time. None where nothing resets: an unlimited allowance, and the meter with
   * reset_usage NEVER, whose quantity holds all of its history.
   */
  readonly windows: readonly ResetWindow[];
};

/** The usage window of a line and what surrounds it. */
export type AllowanceQuery = {
  readonly meter: LineMeter;
  readonly window: Interval;
  readonly terms: PeriodTerms;
  readonly entitlements: readonly EntitlementSource[];
};

/** Usage before the subscription, or before the end of its trial, uses nothing up. */
function resetWindowOf(window: Interval, { window: used, terms }: AllowanceQuery): ResetWindow {
  const startMs = Math.max(window.startMs, terms.trialEndMs ?? terms.startMs);
  return {
    window,
    before: overlapOf({ startMs, endMs: window.endMs }, { startMs, endMs: used.startMs }),
    until: { startMs, endMs: Math.min(window.endMs, used.endMs) },
  };
}

/** The sum of the limits of all features of the meter; null, unlimited, if one of them is. */
function sumOf(limits: readonly (Decimal | null)[]): Decimal | null {
  return limits.reduce((sum, limit) => (sum === null || limit === null ? null : sum.plus(limit)));
}

/**
 * The allowance of a usage line; null where no enabled entitlement is of its meter. The reset
 * periods of several features of one meter are equal by validation; the first one is taken.
 */
export function allowanceOfLine(question: AllowanceQuery): LineAllowance | null {
  const { meter, window, terms } = question;
  const entitled = effectiveEntitlements(question.entitlements, window.endMs - 1).filter(
    ({ featureType, meterId }) => featureType === 'metered' && meterId === meter.id,
  );
  if (entitled.length === 0) return null;
  const limit = sumOf(entitled.map(({ usageLimit }) => usageLimit));
  const resetPeriod = entitled.find((one) => one.usageResetPeriod !== null)?.usageResetPeriod;
  const isReset = limit !== null && meter.resetUsage === 'BILLING_PERIOD';
  const windows = isReset ? resetWindowsIn(window, resetPeriod ?? null, terms) : [];
  return {
    limit,
    resetPeriod: resetPeriod ?? null,
    windows: windows.map((of) => resetWindowOf(of, question)),
  };
}
