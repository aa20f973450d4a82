import { DAY_MS, MINUTE_MS, type InstantMs, type Interval } from '../../../contract/instant.js';
import { stretchAt, type OffsetStretch } from '../calendar/local-time.js';
import { windowsIn, type WindowGrid } from '../calendar/usage-windows.js';
import type { LineCommitment } from '../commitment/commitment.js';
import { bucketsByMinute, slotMinuteOf } from '../commitment/time-bucket.js';
import type { PricedWindow, WindowRule } from './priced-window.js';
import type { Proration } from '../calendar/proration.js';
import type { BucketGroup, BucketUsage } from '../usage/line-usage.js';
import type { PriceModel } from '../price/price.js';
import { createCharger, type Charger } from './create-charger.js';
import { chargeGroups, windowRule } from './window-rule.js';

/** A line whose commitment holds for every bucket of its meter. */
export type CommittedWindows = {
  readonly price: PriceModel & { readonly id: string };
  readonly commitment: LineCommitment;
  /** The usage window, and how it is cut. */
  readonly period: Interval;
  readonly grid: WindowGrid;
  /** What is billed of each bucket, in bucket order, cut to the usage window. */
  readonly buckets: readonly BucketUsage[];
  /** Now. */
  readonly asOfMs: InstantMs;
};

const NO_GROUPS: readonly BucketGroup[] = [];

/** A window without usage costs what is missing to its commitment (domain.md 11.5). */
function chargesEmpty({ committed }: WindowRule): boolean {
  return committed?.isTrueUpEnabled ?? false;
}

/** The rule of a window, and its price as a function. */
type Charging = { readonly rule: WindowRule; readonly charge: Charger };

/** How to charge a window that starts at each minute of the local day: its slot decides. */
function chargingByMinute({ price, commitment, grid }: CommittedWindows): readonly Charging[] {
  const { terms, timeBuckets } = commitment;
  const base = { rule: windowRule(price, terms, null), charge: createCharger(price) };
  const rules = new Map(
    timeBuckets.map((bucket) => [
      bucket.id,
      {
        rule: windowRule(bucket.price, bucket.terms, bucket.id),
        charge: createCharger(bucket.price),
      },
    ]),
  );
  const buckets = bucketsByMinute(timeBuckets);
  return buckets.map((_, minute) => {
    const bucket = buckets[slotMinuteOf(minute, grid.size)] ?? null;
    return bucket === null ? base : (rules.get(bucket.id) ?? base);
  });
}

/**
 * Tells the minute of the local day of instants in the order of time. It asks for the UTC offset
 * once per stretch and keeps the day: per window the one would take longer than all the rest, and
 * dividing with a remainder a tenth of it.
 */
function createDayClock({ timezone }: WindowGrid): (instant: InstantMs) => number {
  let stretch: OffsetStretch | null = null;
  let dayMs = 0;
  return (instant) => {
    if (stretch === null || instant < stretch.startMs || instant >= stretch.endMs) {
      stretch = stretchAt(instant, timezone);
    }
    const localMs = instant + stretch.offsetMs;
    if (localMs < dayMs || localMs >= dayMs + DAY_MS) dayMs = Math.floor(localMs / DAY_MS) * DAY_MS;
    return Math.floor((localMs - dayMs) / MINUTE_MS);
  };
}

function scaleOf(coveredMs: number, { startMs, endMs }: Interval): Proration | null {
  const fullMs = endMs - startMs;
  return coveredMs === fullMs ? null : { coveredMs, fullMs };
}

/**
 * Answers what was used in a window, asked in the order of time; null for a window without usage.
 * @throws RangeError for usage of an interval that is no window.
 */
function createUsageReader(
  buckets: readonly BucketUsage[],
): (startMs: InstantMs, endMs: InstantMs) => readonly BucketGroup[] | null {
  let next = 0;
  return (startMs, endMs) => {
    const used = buckets[next];
    if (used === undefined || used.startMs >= endMs) return null;
    if (used.startMs !== startMs)
      throw new RangeError('usage of an interval that is no window of the line');
    next += 1;
    return used.groups;
  };
}

/**
 * Domain.md 11.4 and 11.5: every window by itself, at the price and under the terms of the time
 * bucket that contains the local time at which its slot starts, else of the line. Windows without
 * usage take part where a true-up charges them; windows that have not begun do not take part.
 * @throws RangeError for usage of an interval that is no window of the line.
 */
export function rateCommittedWindows(line: CommittedWindows): readonly PricedWindow[] {
  const { period, grid, buckets, asOfMs } = line;
  const charging = chargingByMinute(line);
  const minuteAt = createDayClock(grid);
  const usageIn = createUsageReader(buckets);
  if ((buckets.at(-1)?.endMs ?? -Infinity) > period.endMs) {
    throw new RangeError('usage of an interval that is outside of the line');
  }
  const priced: PricedWindow[] = [];
  for (const window of windowsIn(period, grid)) {
    const startMs = Math.max(window.startMs, period.startMs);
    if (startMs >= asOfMs) break;
    const endMs = Math.min(window.endMs, period.endMs);
    const groups = usageIn(startMs, endMs);
    const of = charging[minuteAt(window.startMs)];
    if (of === undefined || (groups === null && !chargesEmpty(of.rule))) continue;
    const { quantity, usageAmount } = chargeGroups(groups ?? NO_GROUPS, of.charge);
    const scale = scaleOf(endMs - startMs, window);
    priced.push({ startMs, endMs, group: null, quantity, usageAmount, rule: of.rule, scale });
  }
  return priced;
}
