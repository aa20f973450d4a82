import { DAY_MS, MINUTE_MS, type InstantMs, type Interval } from '../../../contract/instant.js';
import { stretchAt, type OffsetStretch } from '../calendar/local-time.js';
import { windowsIn, type WindowGrid } from '../calendar/usage-windows.js';
import type { LineCommitment } from '../commitment/commitment.js';
import { bucketsByMinute, slotMinuteOf } from '../commitment/time-bucket.js';
import type { PricedWindow, WindowRule } from './priced-window.js';
import type { Proration } from '../calendar/proration.js';
import type { BucketGroup, BucketUsage } from '../usage/line-usage.js';
import type { PriceModel } from '../price/price-model.js';
import { createCharger } from './create-charger.js';
import type { Charger } from './rated-model.js';
import { chargeGroups, windowRule } from './window-rule.js';

/** A line whose commitment applies to every bucket of its meter by itself. */
export type CommittedWindows = {
  readonly price: PriceModel & { readonly id: string };
  readonly commitment: LineCommitment;
  /** The usage window. */
  readonly period: Interval;
  readonly grid: WindowGrid;
  /** The billed usage of each bucket, sorted and cut to the usage window. */
  readonly buckets: readonly BucketUsage[];
  /** Now. */
  readonly asOfMs: InstantMs;
};

const NO_GROUPS: readonly BucketGroup[] = [];

/**
 * Whether a window is charged: always with usage; without, when it has begun and a true-up makes it
 * cost its commitment (docs/domain.md 11.4, 11.5).
 */
function takesPart(
  { committed }: WindowRule,
  {
    groups,
    isBegun,
  }: { readonly groups: readonly BucketGroup[] | null; readonly isBegun: boolean },
): boolean {
  return groups !== null || (isBegun && (committed?.isTrueUpEnabled ?? false));
}

/** The rule of a window, and the function that computes its charge. */
type Charging = { readonly rule: WindowRule; readonly charge: Charger };

/** How to charge a window by the minute of the local day at which it starts. */
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
 * Returns the minute of the local day of an instant; call it with ascending instants. It looks up
 * the UTC offset once per interval of constant offset, because one look-up per window would take
 * longer than all the rest, and it keeps the start of the day to save a division per window.
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

type UsageReader = {
  /** The usage of a window, or null for a window without usage; call it in the order of time. */
  readonly take: (startMs: InstantMs, endMs: InstantMs) => readonly BucketGroup[] | null;
  readonly hasMore: () => boolean;
};

/** @throws RangeError for usage of an interval that is not a window. */
function createUsageReader(buckets: readonly BucketUsage[]): UsageReader {
  let next = 0;
  const take = (startMs: InstantMs, endMs: InstantMs): readonly BucketGroup[] | null => {
    const used = buckets[next];
    if (used === undefined || used.startMs >= endMs) return null;
    if (used.startMs !== startMs)
      throw new RangeError('usage of an interval that is no window of the line');
    next += 1;
    return used.groups;
  };
  return { take, hasMore: () => next < buckets.length };
}

function refuseOutside({ buckets, period }: CommittedWindows): void {
  const last = buckets.at(-1);
  if (last === undefined || last.endMs <= period.endMs) return;
  throw new RangeError('usage of an interval that is outside of the line');
}

/**
 * Rates every window by itself (docs/domain.md 11.4, 11.5), at the price and the terms of the time
 * bucket that contains the local start time of its slot, or else those of the line. Windows without
 * usage are included only if they have begun and a true-up charges them.
 * @throws RangeError for usage of an interval that is not a window of the line.
 */
export function rateCommittedWindows(line: CommittedWindows): readonly PricedWindow[] {
  const { period, grid, buckets, asOfMs } = line;
  const charging = chargingByMinute(line);
  const minuteAt = createDayClock(grid);
  const usage = createUsageReader(buckets);
  refuseOutside(line);
  const priced: PricedWindow[] = [];
  for (const window of windowsIn(period, grid)) {
    const startMs = Math.max(window.startMs, period.startMs);
    const isBegun = startMs < asOfMs;
    if (!isBegun && !usage.hasMore()) break;
    const endMs = Math.min(window.endMs, period.endMs);
    const groups = usage.take(startMs, endMs);
    const of = charging[minuteAt(window.startMs)];
    if (of === undefined || !takesPart(of.rule, { groups, isBegun })) continue;
    const { quantity, usageAmount } = chargeGroups(groups ?? NO_GROUPS, of.charge);
    const scale = scaleOf(endMs - startMs, window);
    priced.push({ startMs, endMs, group: null, quantity, usageAmount, rule: of.rule, scale });
  }
  return priced;
}
