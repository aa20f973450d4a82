import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { NO_SPLIT, type UsageSlicing } from '../../domain/usage/aggregation-spec.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { filtersOfPrice } from '../../subscriptions/lines/line-item-from-row.js';
import { specOfMeter } from '../../usage/aggregation-of-meter.js';
import type { UsageQuery } from '../../usage/read-usage.js';
import { subjectOf } from '../../usage/store/cell-query.js';
import { cutsOf } from '../../usage/usage-range.js';
import type { AnalyticsLine } from './line-in-range.js';
import type { AnalyticsQuery } from './analytics-query.js';

/** The line as a whole, its parts, their windows, and the sources of its events. */
export type AnalyticsSlicing = 'whole' | 'parts' | 'points' | 'sources';

/** The queries of one line: its usage, and which sources its events come from. */
export type LineQueries = {
  readonly line: AnalyticsLine;
  readonly meter: EffectiveMeter;
  readonly usage: UsageQuery<AnalyticsSlicing>;
  readonly sources: UsageQuery<AnalyticsSlicing>;
};

/** What to read of a line, or why that is too much. */
export function lineQueriesOf(
  line: AnalyticsLine,
  meter: EffectiveMeter,
  query: AnalyticsQuery,
): LineQueries | Refusal {
  const { range, subscription, lineItem } = line;
  const { split, narrowedBy, sources, windowSize } = query;
  const { aggregation, bucketSize } = meter;
  const grid = {
    range,
    timezone: subscription.customer_timezone,
    anchorMs: subscription.billing_anchor,
  };
  const cuts = cutsOf(grid, { type: aggregation.type, windowSize, bucketSize });
  if (isRefusal(cuts)) return cuts;
  const subject = subjectOf(meter);
  const common = { narrowedBy: [...filtersOfPrice(lineItem), ...narrowedBy], sources };
  const slicings = new Map<AnalyticsSlicing, UsageSlicing>();
  slicings.set('whole', { windows: null, split: NO_SPLIT });
  slicings.set('parts', { windows: null, split });
  if (cuts.windows !== null) slicings.set('points', { windows: cuts.windows, split });
  const bySource = { windows: null, split: { ...NO_SPLIT, source: true } };
  const countOfEvents = { aggregation: COUNT_EVENTS, resetUsage: 'BILLING_PERIOD' } as const;
  return {
    line,
    meter,
    usage: { ...common, subject, spec: specOfMeter(meter, range, cuts.buckets), slicings },
    sources: {
      ...common,
      subject: { ...subject, aggregation: COUNT_EVENTS },
      spec: specOfMeter(countOfEvents, range, null),
      slicings: new Map([['sources', bySource]]),
    },
  };
}
