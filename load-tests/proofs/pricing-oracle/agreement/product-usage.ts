import type { Interval } from '../../../../contract/instant.js';
import type {
  LineUsage,
  UsageRequirement,
} from '../../../../billing-api/domain/usage/line-usage.js';
import { groupsIn, quantityIn, type Measured } from '../measured-usage.js';
import { anchorAt } from '../period-ledger.js';
import type { Subscription } from '../subscription.js';
import { measuredOf } from '../usage-charge.js';
import type { Range } from '../../usage-oracle/windows.js';
import { decimalFrom } from './product-amounts.js';

function rangeOf({ startMs, endMs }: Interval): Range {
  return { start: startMs, end: endMs };
}

function bucketUsage(measured: Measured, bucket: Interval) {
  const range = rangeOf(bucket);
  const inside = measured.events.filter(
    ({ timestamp }) => timestamp >= range.start && timestamp < range.end,
  );
  const groups = groupsIn(measured, inside, range)
    .toReversed()
    .map(({ group, value }) => ({
      text: group,
      usage: decimalFrom(value),
      eventCount: inside.length,
    }));
  return groups.length === 0 ? [] : [{ ...bucket, groups }];
}

/** What the product asks for, out of the oracle's own aggregation of the events. */
export function productUsage(subscription: Subscription, plan: UsageRequirement): LineUsage {
  const item = subscription.items.find(({ id }) => id === plan.lineItemId);
  if (item?.type !== 'USAGE') throw new Error(`no usage item ${plan.lineItemId}`);
  const anchor = plan.bucketGrid?.anchorMs ?? anchorAt(subscription, plan.window.startMs);
  const measured = measuredOf(subscription, item, anchor);
  const valueOf = (interval: Interval) => decimalFrom(quantityIn(measured, rangeOf(interval)));
  return {
    usage: valueOf(plan.window),
    eventCount: measured.events.length,
    // The order of what was read says nothing, so it is the least likely one.
    buckets: plan.buckets?.toReversed().flatMap((bucket) => bucketUsage(measured, bucket)) ?? null,
    intervals: plan.intervals
      .toReversed()
      .map((interval) => ({ interval, usage: valueOf(interval) })),
    bySource: [],
    byGrouping: [],
  };
}
