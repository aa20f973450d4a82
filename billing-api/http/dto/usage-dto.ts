import type { DateTime, DecimalText } from './common.js';
import type { AggregationTypeDto, WindowSizeDto } from './meter-dto.js';

/**
 * Property key to the texts that count.
 * @example {"region": ["eu"]}
 */
export interface PropertyFiltersBody {
  [key: string]: string[];
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
  /** Fills `results`, one element for each window. */
  window_size?: WindowSizeDto;
  /** Buckets of a count add up to the count, whatever their size. */
  bucket_size?: WindowSizeDto;
  /** Where windows of a MONTH begin. */
  billing_anchor?: DateTime;
  /** The customer's time zone when absent, else UTC. */
  timezone?: string;
}

export interface UsageWindowDto {
  window_start: DateTime;
  window_end: DateTime;
  /** Null unless the question groups by something. */
  group: string | null;
  value: DecimalText;
}

export interface UsageDto {
  event_name: string;
  type: AggregationTypeDto;
  /** Of the whole range. */
  value: DecimalText;
  results: UsageWindowDto[];
  /** Events received before it are included; null while nothing is known to be complete. */
  data_until: DateTime | null;
}
