import type { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { windowsWithin } from '../../domain/calendar/usage-windows.js';
import type {
  BucketGroup,
  BucketUsage,
  IntervalUsage,
  LineUsage,
  UsageRequirement,
} from '../../domain/usage/line-usage.js';
import type { BillingGrid } from '../../domain/calendar/billing-grid.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import {
  NO_SPLIT,
  type UsagePart,
  type UsageSlicing,
} from '../../domain/usage/aggregation-spec.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { subjectOf } from '../../usage/store/usage-question.js';
import { usageOfViews, viewsOfLine, type Grouping } from '../../usage/usage-grouping.js';
import { filtersOfPrice } from '../../subscriptions/lines/line-items.js';
import { scopeOf } from '../../usage/read-meter-usage.js';
import type { UsageQuery } from '../../usage/read-usage.js';

/** A line whose usage is asked for: what its invoice needs to know, and of which meter. */
export type LineUsageQuery = {
  readonly plan: UsageRequirement;
  readonly lineItem: LineItem;
  readonly meter: EffectiveMeter;
  readonly grid: BillingGrid;
};

/** So many groups are looked up again; the counts of minutes are few. */
const KNOWN_GROUPS_MAX = 1_000;

/** Intervals in lists without overlap, each in the order of time: one view can show a list. */
export function withoutOverlap(intervals: readonly Interval[]): readonly (readonly Interval[])[] {
  const lists: Interval[][] = [];
  for (const interval of intervals.toSorted((a, b) => a.startMs - b.startMs)) {
    const list = lists.find((one) => (one.at(-1)?.endMs ?? -Infinity) <= interval.startMs);
    if (list === undefined) lists.push([interval]);
    else list.push(interval);
  }
  return lists;
}

/** The buckets of a stretch of time, cut to it (domain.md 7.8). */
function bucketsOf(interval: Interval, { meter, grid }: LineUsageQuery): readonly Interval[] {
  const { bucketSize: size } = meter;
  if (size === null) return [];
  const { timezone, billingAnchorMs: anchorMs } = grid;
  return windowsWithin(interval, { size, timezone, anchorMs });
}

/**
 * The buckets whose values add up; of sums any cut gives the same, so that only a MAX is cut. Its
 * intervals lie before the usage window, none over another, and are cut as they are by themselves.
 */
function addedBuckets(line: LineUsageQuery): readonly Interval[] | null {
  const { plan, meter } = line;
  if (plan.buckets === null || meter.aggregation.type !== 'MAX') return null;
  const earlier = withoutOverlap(plan.intervals).flat();
  return [...earlier.flatMap((interval) => bucketsOf(interval, line)), ...plan.buckets];
}

/** What is shown beside the window and its splits: the buckets, then every list of intervals. */
function furtherViews({ plan, meter }: LineUsageQuery): readonly UsageSlicing[] {
  const group = meter.aggregation.groupBy !== null;
  const intervals = withoutOverlap(plan.intervals);
  return [
    ...(plan.buckets === null ? [] : [{ windows: plan.buckets, split: { ...NO_SPLIT, group } }]),
    ...intervals.map((windows) => ({ windows, split: NO_SPLIT })),
  ];
}

/** What to read of a line. All of it comes from one reading of the usage tables. */
export function askOfLine(line: LineUsageQuery, grouping: Grouping): UsageQuery {
  const { plan, lineItem, meter } = line;
  return {
    subject: subjectOf(meter),
    scope: scopeOf(meter, plan.window, addedBuckets(line)),
    narrowedBy: filtersOfPrice(lineItem),
    sources: null,
    views: [...viewsOfLine(grouping), ...furtherViews(line)],
  };
}

/** Without groups every window is a bucket, with one value. Shared counts share what they fill. */
function plainBuckets({ windows }: UsagePart): readonly BucketUsage[] {
  const known = new Map<Decimal, readonly [BucketGroup]>();
  const buckets: BucketUsage[] = [];
  for (const { window, value, eventCount } of windows) {
    if (eventCount === 0) continue;
    let groups = known.get(value);
    if (groups?.[0].eventCount !== eventCount) {
      groups = [{ text: '', usage: value, eventCount }];
      if (known.size < KNOWN_GROUPS_MAX) known.set(value, groups);
    }
    const { startMs, endMs } = window;
    buckets.push({ startMs, endMs, groups });
  }
  return buckets;
}

function groupedBuckets(parts: readonly UsagePart[]): readonly BucketUsage[] {
  const buckets = new Map<number, Interval & { readonly groups: BucketGroup[] }>();
  for (const { group: text, windows } of parts) {
    for (const { window, value, eventCount } of windows) {
      if (eventCount === 0) continue;
      const bucket = buckets.get(window.startMs) ?? { ...window, groups: [] };
      bucket.groups.push({ text, usage: value, eventCount });
      buckets.set(window.startMs, bucket);
    }
  }
  return [...buckets.values()];
}

function bucketUsages(
  parts: readonly UsagePart[],
  { meter }: LineUsageQuery,
): readonly BucketUsage[] {
  const [only] = parts;
  if (only === undefined || meter.aggregation.groupBy !== null) return groupedBuckets(parts);
  return plainBuckets(only);
}

function intervalUsages(views: readonly (readonly UsagePart[])[]): readonly IntervalUsage[] {
  return views.flatMap(([part]) =>
    assertPresent(part, 'the usage of intervals').windows.map(({ window, value }) => ({
      interval: window,
      usage: value,
    })),
  );
}

/** The usage of a line out of the views that `askOfLine` asks for. */
export function usageOfLine(
  line: LineUsageQuery,
  views: readonly (readonly UsagePart[])[],
  grouping: Grouping & { readonly featureId: string },
): LineUsage {
  const { plan } = line;
  const shown = viewsOfLine(grouping).length;
  const further = views.slice(shown);
  const [buckets = [], ...intervals] = plan.buckets === null ? [[], ...further] : further;
  return {
    ...usageOfViews(views.slice(0, shown), grouping),
    buckets: plan.buckets === null ? null : bucketUsages(buckets, line),
    intervals: intervalUsages(intervals),
  };
}
