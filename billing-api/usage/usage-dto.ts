import { plain } from '../../contract/number/decimal.js';
import { formatInstant } from '../../contract/instant.js';
import type { MeterUsageItems } from './query-meter-usage.js';
import type { UsageAnswer } from './usage-answer.js';
import { instantToDto, type DateTime, type DecimalText } from '../records/record-dto.js';
import type { AggregationTypeDto, WindowSizeDto } from '../declarations/catalog/meter.resource.js';

/** The texts of a property that count. @maxItems 1000 */
export type PropertyTextsBody = string[];

/**
 * Property key to the texts that count.
 * @example {"region": ["eu"]}
 */
export interface PropertyFiltersBody {
  [key: string]: PropertyTextsBody;
}

/**
 * @example {"meter_id": "meter_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "external_customer_id": "acme",
 *   "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00Z", "window_size": "DAY",
 *   "timezone": "Europe/Berlin"}
 */
export interface MeterUsageBody {
  meter_id: string;
  /** @maxLength 255 */
  external_customer_id?: string;
  /** @maxLength 255 */
  customer_id?: string;
  /** Added to the meter's own filters. */
  filters?: PropertyFiltersBody;
  /** Seven days before the end when absent. */
  start_time?: DateTime;
  /** Now when absent. */
  end_time?: DateTime;
  /** Fills `results`, one element for each window; never finer than the buckets. */
  window_size?: WindowSizeDto;
  /** Cuts the range into buckets whose values add up. A meter's own bucket size wins. */
  bucket_size?: WindowSizeDto;
  /** Where windows of a MONTH begin. */
  billing_anchor?: DateTime;
  /** The customer's time zone when absent, else UTC. */
  timezone?: string;
}

/**
 * @example {"event_name": "api.request", "aggregation_type": "SUM", "property_name": "bytes",
 *   "external_customer_id": "acme", "start_time": "2026-01-01T00:00:00Z",
 *   "end_time": "2026-02-01T00:00:00Z", "group_by": ["properties.region"]}
 */
export interface EventUsageBody {
  /** Blanks around it are cut off. @minLength 1 @maxLength 255 */
  event_name: string;
  aggregation_type: AggregationTypeDto;
  /** The property that is aggregated; required except for COUNT. */
  property_name?: string;
  /** @maxLength 255 */
  external_customer_id?: string;
  /** @maxLength 255 */
  customer_id?: string;
  filters?: PropertyFiltersBody;
  /** Every value is multiplied by it; required for SUM_WITH_MULTIPLIER. */
  multiplier?: DecimalText;
  /** Seven days before the end when absent. */
  start_time?: DateTime;
  /** Now when absent. */
  end_time?: DateTime;
  /** Fills `results`, one element for each window; never finer than the buckets. */
  window_size?: WindowSizeDto;
  /** Cuts the range into buckets whose values add up; with COUNT, SUM and MAX. */
  bucket_size?: WindowSizeDto;
  /**
   * `source` and `properties.<name>`: fills `results`, one element for each group (and window) that
   * has events.
   * @maxItems 10
   */
  group_by?: string[];
  /** Where windows of a MONTH begin. */
  billing_anchor?: DateTime;
  /** The customer's time zone when absent, else UTC. */
  timezone?: string;
}

/** Name (`source`, `properties.region`) to the text of a group; empty for a missing property. */
export interface UsageGroupDto {
  [name: string]: string;
}

export interface UsageWindowDto {
  window_start: DateTime;
  window_end: DateTime;
  /** Null unless the request or the meter groups by something. */
  group: UsageGroupDto | null;
  value: DecimalText;
}

export interface UsageDto {
  event_name: string;
  type: AggregationTypeDto;
  /** Of the whole range. */
  value: DecimalText;
  /** Filled with window_size or a grouping. */
  results: UsageWindowDto[];
  /**
   * Events behind the value whose own value could not be read: the property is missing or is no
   * number, or the expression failed.
   * @isInt
   */
  unreadable_count: number;
  /** Events received before it are included; null while nothing is known to be complete. */
  data_until: DateTime | null;
}

/**
 * @example {"meter_ids": ["meter_01KAHZ3M4N5P6Q7R8S9T0V1W2X"], "external_customer_ids": ["acme"],
 *   "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00Z"}
 */
export interface MeterUsageQueryBody {
  /** @minItems 1 @maxItems 100 */
  meter_ids: string[];
  /** The customers whose usage is added up; all customers when absent. @maxItems 1000 */
  external_customer_ids?: string[];
  /** Seven days before the end when absent. */
  start_time?: DateTime;
  /** Now when absent. */
  end_time?: DateTime;
  /** Fills `points`, one element for each window in UTC; never finer than a meter's buckets. */
  window_size?: WindowSizeDto;
}

export interface UsagePointDto {
  window_start: DateTime;
  value: DecimalText;
}

export interface MeterUsageItemDto {
  meter_id: string;
  aggregation_type: AggregationTypeDto;
  /** Of the whole range. */
  total_value: DecimalText;
  /** @isInt */
  event_count: number;
  /** Events whose value could not be read. @isInt */
  unreadable_count: number;
  points: UsagePointDto[];
}

export interface MeterUsageQueryDto {
  items: MeterUsageItemDto[];
  /** Events received before it are included; null while nothing is known to be complete. */
  data_until: DateTime | null;
}

export function usageToDto(usage: UsageAnswer): UsageDto {
  return {
    event_name: usage.eventName,
    type: usage.type,
    value: plain(usage.value),
    results: usage.results.map(({ window, group, value }) => ({
      window_start: formatInstant(window.startMs),
      window_end: formatInstant(window.endMs),
      group: group === null ? null : { ...group },
      value: plain(value),
    })),
    unreadable_count: usage.unreadableCount,
    data_until: instantToDto(usage.dataUntil),
  };
}

export function meterUsageToDto({ items, dataUntil }: MeterUsageItems): MeterUsageQueryDto {
  return {
    items: items.map(({ meter, total, points }) => ({
      meter_id: meter.meterId,
      aggregation_type: meter.aggregation.type,
      total_value: plain(total.value),
      event_count: total.eventCount,
      unreadable_count: total.unreadableCount,
      points: points.map(({ window, value }) => ({
        window_start: formatInstant(window.startMs),
        value: plain(value),
      })),
    })),
    data_until: instantToDto(dataUntil),
  };
}
