import type { InstantMs, Interval } from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import type { WindowSize } from '../domain/calendar/usage-windows.js';
import type { CustomerReference } from '../customers/named-customer.js';
import { propertyFiltersProblem } from '../domain/price/property-filters.js';
import type { MemberReader } from '../records/member-rules.js';
import { readRange, type RangeRequest } from '../records/time-range.js';

const RANGE_DAYS = 7;

export type PropertyFilters = Readonly<Record<string, readonly string[]>>;

/** The members that both usage endpoints take. */
export type UsageRequest = RangeRequest &
  CustomerReference & {
    readonly filters?: PropertyFilters | undefined;
    readonly window_size?: WindowSize | undefined;
    readonly bucket_size?: WindowSize | undefined;
    readonly billing_anchor?: string | undefined;
    readonly timezone?: string | undefined;
  };

/** The body of POST /meter-usage/query. */
export type MeterUsageQuery = RangeRequest & {
  readonly meter_ids: readonly string[];
  readonly external_customer_ids?: readonly string[] | undefined;
  readonly window_size?: WindowSize | undefined;
};

/** The common members of a usage request, checked. */
export type UsageTerms = {
  readonly range: Interval;
  readonly filters: readonly MeterFilter[];
  readonly windowSize: WindowSize | null;
  readonly bucketSize: WindowSize | null;
  readonly anchorMs: InstantMs | null;
  readonly timezone: string | null;
};

export function readPropertyFilters(
  reader: MemberReader,
  member: string,
  filters: PropertyFilters | undefined,
): readonly MeterFilter[] {
  const given = filters ?? {};
  reader.note(member, propertyFiltersProblem(given));
  return Object.entries(given).map(([key, values]) => ({ key, values }));
}

/** Reads the common members of a usage request; `now` stands for an absent end. */
export function readTerms(reader: MemberReader, request: UsageRequest, now: InstantMs): UsageTerms {
  return {
    range: readRange(reader, request, { now, days: RANGE_DAYS }),
    filters: readPropertyFilters(reader, 'filters', request.filters),
    windowSize: request.window_size ?? null,
    bucketSize: request.bucket_size ?? null,
    anchorMs: reader.instant('billing_anchor', request.billing_anchor),
    timezone: reader.timezone('timezone', request.timezone),
  };
}
