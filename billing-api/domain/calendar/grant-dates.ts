import type { InstantMs } from '../../../contract/instant.js';
import { boundaryAt } from './billing-boundaries.js';
import type { BillingPeriod } from './billing-grid.js';
import { instantOfLocal, localDateTimeAt, moveLocal } from './local-time.js';

/** When a credit grant gives its credits (docs/domain.md 21). */
export type GrantDates = {
  readonly anchorMs: InstantMs;
  readonly startMs: InstantMs;
  readonly endMs: InstantMs | null;
  /** Null for a grant that gives them once. */
  readonly every: { readonly period: BillingPeriod; readonly count: number } | null;
  readonly timezone: string;
};

function instantOf({ anchorMs, every, timezone }: GrantDates, k: number): InstantMs {
  if (every === null) return anchorMs;
  return boundaryAt(
    {
      billingCycle: 'anniversary',
      billingPeriod: every.period,
      billingPeriodCount: every.count,
      billingAnchorMs: anchorMs,
      timezone,
    },
    k,
  );
}

/** One application of a grant: the k-th period from its anchor. */
export type GrantDate = { readonly k: number; readonly atMs: InstantMs };

/**
 * The first application from the k-th period on that is not before the start of the grant; null
 * when the grant has ended by then.
 */
export function applicationFrom(dates: GrantDates, k: number): GrantDate | null {
  const { every, startMs, endMs } = dates;
  if (every === null) {
    const atMs = Math.max(dates.anchorMs, startMs);
    return k > 0 || (endMs !== null && atMs >= endMs) ? null : { k: 0, atMs };
  }
  let place = k;
  while (instantOf(dates, place) < startMs) place += 1;
  const atMs = instantOf(dates, place);
  return endMs !== null && atMs >= endMs ? null : { k: place, atMs };
}

const MONTHS = { MONTH: 1, YEAR: 12 } as const;
const DAYS = { DAY: 1, WEEK: 7 } as const;

/** The end of credits that last so long from an instant on, by the wall clock of a time zone. */
export function expiryAfter(
  atMs: InstantMs,
  duration: number,
  {
    unit,
    timezone,
  }: { readonly unit: keyof typeof MONTHS | keyof typeof DAYS; readonly timezone: string },
): InstantMs {
  const local = localDateTimeAt(atMs, timezone);
  const moved =
    unit === 'MONTH' || unit === 'YEAR'
      ? moveLocal(local, 'months', duration * MONTHS[unit])
      : moveLocal(local, 'days', duration * DAYS[unit]);
  return instantOfLocal(moved, timezone);
}
