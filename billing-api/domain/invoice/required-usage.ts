import type { Interval } from '../../../contract/instant.js';
import { windowsWithin } from '../calendar/usage-windows.js';
import { bucketCutsOf, cutBuckets } from '../entitlement/cut-buckets.js';
import type { UsageRequirement } from '../usage/line-usage.js';
import type { BillableLine, BillableUsageLine } from './billable-line.js';

/** The buckets of a bucketed meter in the usage window; null without buckets. */
function bucketsOf(line: BillableUsageLine): readonly Interval[] | null {
  const { bucketGrid, period } = line;
  if (bucketGrid === null) return null;
  return cutBuckets(windowsWithin(period, bucketGrid), bucketCutsOf(line));
}

/**
 * The intervals whose usage an allowance depends on, other than the usage window itself. With a
 * bucketed meter, usage inside the usage window is known from the buckets.
 */
function intervalsOf({ meter, period, allowance }: BillableUsageLine): readonly Interval[] {
  if (allowance === null) return [];
  const intervals = allowance.windows.flatMap(({ before, until }) => [
    ...(before === null ? [] : [before]),
    ...(meter.bucketSize === null ? [until] : []),
  ]);
  return intervals.filter(
    ({ startMs, endMs }) => startMs !== period.startMs || endMs !== period.endMs,
  );
}

/**
 * Which usage must be read before the lines of an invoice can be priced: one requirement for every
 * usage line, in line order. All of it may be read in one round trip.
 */
export function requiredUsage(lines: readonly BillableLine[]): readonly UsageRequirement[] {
  return lines
    .filter((line) => line.meter !== null)
    .map((line) => ({
      lineItemId: line.lineItem.id,
      window: line.period,
      bucketGrid: line.bucketGrid,
      buckets: bucketsOf(line),
      intervals: intervalsOf(line),
    }));
}
