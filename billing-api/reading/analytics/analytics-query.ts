import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import type { WindowSize } from '../../domain/calendar/usage-windows.js';
import type { UsageSplit } from '../../domain/usage/aggregation-spec.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Refusal } from '../../records/refusal.js';
import { readRange, type RangeRequest } from '../../records/time-range.js';
import { readGroups } from '../../usage/usage-grouping.js';
import { readPropertyFilters, type PropertyFilters } from '../../usage/usage-request.js';

const RANGE_DAYS = 7;

export type AnalyticsExpandable =
  'price' | 'meter' | 'feature' | 'subscription_line_item' | 'plan' | 'addon';

export type AnalyticsRequest = RangeRequest & {
  readonly external_customer_id: string;
  readonly feature_ids?: readonly string[] | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly group_by?: readonly string[] | undefined;
  readonly window_size?: WindowSize | undefined;
  readonly property_filters?: PropertyFilters | undefined;
  readonly include_children?: boolean | undefined;
  readonly breakdown_bucket?: boolean | undefined;
  readonly expand?: readonly AnalyticsExpandable[] | undefined;
};

/** What an analysis reads, checked. */
export type AnalyticsQuery = {
  readonly range: Interval;
  readonly split: UsageSplit;
  readonly narrowedBy: readonly MeterFilter[];
  readonly sources: readonly string[] | null;
  readonly windowSize: WindowSize | null;
};

export function analyticsQueryFrom(
  request: AnalyticsRequest,
  now: InstantMs,
): AnalyticsQuery | Refusal {
  const reader = new MemberReader();
  // feature_id needs no split: every item is of one line, whose meter has one feature.
  const { hasSource, properties } = readGroups(reader, request.group_by);
  if (request.breakdown_bucket === true && request.window_size === undefined) {
    reader.note('breakdown_bucket', 'breaks down points, so it needs a window_size');
  }
  const { sources = [] } = request;
  const query = {
    range: readRange(reader, request, { now, days: RANGE_DAYS }),
    split: { source: hasSource, group: false, properties },
    narrowedBy: readPropertyFilters(reader, 'property_filters', request.property_filters),
    sources: sources.length === 0 ? null : sources,
    windowSize: request.window_size ?? null,
  };
  return reader.refusal() ?? query;
}
