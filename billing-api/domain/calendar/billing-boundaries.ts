import type { InstantMs, Interval } from '../../../contract/instant.js';
import { billingLengthOf } from './billing-length.js';
import type { BillingCycle, BillingGrid, BillingPeriod } from './billing-grid.js';
import type { LocalDateTime } from './local-time.js';
import {
  daysBetween,
  instantOfLocal,
  localDateTime,
  localDateTimeAt,
  midnightOf,
  moveLocal,
  monthsBetween,
} from './local-time.js';

/** The rules of docs/domain.md 12; the arithmetic of local time is in `local-time.ts`. */

type Step = { readonly unit: 'days' | 'months'; readonly amount: number };

/** The step from one boundary to the next. */
function stepOf(grid: Pick<BillingGrid, 'billingPeriod' | 'billingPeriodCount'>): Step {
  const { unit, count } = billingLengthOf(grid);
  if (unit === 'month') return { unit: 'months', amount: count };
  return { unit: 'days', amount: unit === 'week' ? 7 * count : count };
}

/**
 * The anchor as a wall-clock time. Calendar boundaries are local midnights; the anchor's instant is
 * later than midnight where a clock change skips it, and that must not move all other boundaries.
 */
function localAnchorOf(grid: BillingGrid): LocalDateTime {
  const local = localDateTimeAt(grid.billingAnchorMs, grid.timezone);
  return grid.billingCycle === 'calendar' ? midnightOf(local) : local;
}

/** Many thousands of grids and periods: some megabytes. */
const KEPT_MAX = 50_000;

/**
 * Boundaries that were computed before, by everything that they follow from. Subscriptions of one
 * grid share them, and one invoice needs the same ones many times; time zones make each slow.
 */
const kept = new Map<string, number>();

function once(grid: BillingGrid, what: string, compute: () => number): number {
  const { billingCycle: cycle, billingPeriod: period, billingPeriodCount: count } = grid;
  const name = `${cycle} ${count} ${period} ${grid.billingAnchorMs} ${grid.timezone} ${what}`;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const computed = compute();
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(name, computed);
  return computed;
}

/**
 * Boundary b_k: the anchor moved by k steps in local time, for every whole k, negative too
 * (docs/domain.md 12.2, 12.3, 12.5). It is computed from the anchor, never from another boundary,
 * so that the 31st comes back after February.
 */
export function boundaryAt(grid: BillingGrid, k: number): InstantMs {
  if (k === 0) return grid.billingAnchorMs;
  return once(grid, `boundary ${k}`, () => {
    const { unit, amount } = stepOf(grid);
    return instantOfLocal(moveLocal(localAnchorOf(grid), unit, k * amount), grid.timezone);
  });
}

/**
 * The k with b_k ≤ instant < b_k+1. The estimate from calendar dates is wrong by at most two steps
 * (days of the month, clock changes, skipped days), however far the instant is from the anchor.
 */
export function boundaryIndexAt(grid: BillingGrid, instant: InstantMs): number {
  return once(grid, `index ${instant}`, () => findIndex(grid, instant));
}

function findIndex(grid: BillingGrid, instant: InstantMs): number {
  const { unit, amount } = stepOf(grid);
  const [anchor, local] = [localAnchorOf(grid), localDateTimeAt(instant, grid.timezone)];
  const distance = unit === 'days' ? daysBetween(anchor, local) : monthsBetween(anchor, local);
  let k = Math.floor(distance / amount);
  while (boundaryAt(grid, k) > instant) k -= 1;
  while (boundaryAt(grid, k + 1) <= instant) k += 1;
  return k;
}

/** The full grid period `[b_k, b_k+1)` that contains an instant, not cut by start or end. */
export function gridPeriodAt(grid: BillingGrid, instant: InstantMs): Interval {
  const k = boundaryIndexAt(grid, instant);
  return { startMs: boundaryAt(grid, k), endMs: boundaryAt(grid, k + 1) };
}

/** A Monday and the first day of a year, so it is a boundary of every calendar period. */
const CALENDAR_ORIGIN = localDateTime('2001-01-01T00:00');

/** What the anchor of a new subscription is computed from. */
export type AnchorRequest = {
  readonly billingCycle: BillingCycle;
  readonly billingPeriod: BillingPeriod;
  readonly startMs: InstantMs;
  /** As requested; only with the anniversary cycle. */
  readonly billingAnchorMs: InstantMs | null;
  readonly timezone: string;
};

/**
 * The billing anchor of a new subscription (docs/domain.md 12.1). Anniversary: the requested one,
 * else the start. Calendar: the first local midnight, Monday, first of the month, quarter,
 * half-year or year strictly after the start.
 */
export function resolveBillingAnchor(request: AnchorRequest): InstantMs {
  if (request.billingCycle === 'anniversary') return request.billingAnchorMs ?? request.startMs;
  const calendar: BillingGrid = {
    billingCycle: 'calendar',
    billingPeriod: request.billingPeriod,
    billingPeriodCount: 1,
    billingAnchorMs: instantOfLocal(CALENDAR_ORIGIN, request.timezone),
    timezone: request.timezone,
  };
  return boundaryAt(calendar, boundaryIndexAt(calendar, request.startMs) + 1);
}
