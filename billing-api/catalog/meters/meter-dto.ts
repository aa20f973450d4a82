import type { MeterRow } from './meters-store.js';
import {
  rateToDto,
  recordToDto,
  type DateTime,
  type DecimalText,
  type MetadataDto,
  type PaginationDto,
  type RecordDto,
} from '../../records/record-dto.js';

export type AggregationTypeDto =
  | 'COUNT'
  | 'SUM'
  | 'AVG'
  | 'COUNT_UNIQUE'
  | 'LATEST'
  | 'SUM_WITH_MULTIPLIER'
  | 'MAX'
  | 'WEIGHTED_SUM';

export type WindowSizeDto =
  'MINUTE' | '15MIN' | '30MIN' | 'HOUR' | '3HOUR' | '6HOUR' | '12HOUR' | 'DAY' | 'WEEK' | 'MONTH';

export type ResetUsageDto = 'BILLING_PERIOD' | 'NEVER';

/** The property `key` must have one of these texts. */
export interface MeterFilterDto {
  /** @minLength 1 @maxLength 255 */
  key: string;
  /** @minItems 1 @maxItems 1000 */
  values: string[];
}

/**
 * What becomes of the events. Every type but COUNT needs a `field` or, with SUM, AVG, MAX and
 * LATEST, an `expression`.
 */
export interface AggregationBody {
  type: AggregationTypeDto;
  /** The property whose text is the value. @minLength 1 @maxLength 255 */
  field?: string;
  /**
   * Computes the value from properties: numbers, texts, `name`, `properties["name"]`,
   * `+ - * / %`, comparison, `&& || !`, `a ? b : c`, `min max abs ceil floor round`.
   * @minLength 1
   * @maxLength 1000
   */
  expression?: string;
  /** Greater than 0; needed by SUM_WITH_MULTIPLIER, possible with SUM, AVG, MAX and LATEST. */
  multiplier?: DecimalText;
  /** With COUNT, SUM and MAX of meters that reset. */
  bucket_size?: WindowSizeDto;
  /** Splits every bucket by the text of this property. @minLength 1 @maxLength 255 */
  group_by?: string;
}

/**
 * A meter makes a number of the events of one name.
 * @example {"name": "API calls", "event_name": "api.request", "aggregation": {"type": "COUNT"},
 *   "filters": [{"key": "region", "values": ["eu", "us"]}]}
 */
export interface CreateMeterBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** Blanks around it are cut off. @minLength 1 @maxLength 255 */
  event_name: string;
  aggregation: AggregationBody;
  /** @maxItems 100 */
  filters?: MeterFilterDto[];
  reset_usage?: ResetUsageDto;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed.
 * @example {"filters": [{"key": "region", "values": ["eu", "us", "ap"]}]}
 */
export interface ChangeMeterBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Replaced as a whole; null takes all away. @maxItems 100 */
  filters?: MeterFilterDto[] | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
  /** Cannot be changed: refused when given. */
  event_name?: unknown;
  /** Cannot be changed: refused when given. */
  aggregation?: unknown;
  /** Cannot be changed: refused when given. */
  reset_usage?: unknown;
}

export interface AggregationDto {
  type: AggregationTypeDto;
  field: string | null;
  expression: string | null;
  group_by: string | null;
  multiplier: DecimalText | null;
  bucket_size: WindowSizeDto | null;
}

/** How the stored events are being applied to the version. */
export interface BackfillDto {
  /** A failed one is tried again by itself. */
  status: 'none' | 'running' | 'completed' | 'failed';
  /** @isInt */
  events_scanned: number;
  /** @isInt */
  events_matched: number;
  started_at: DateTime | null;
  completed_at: DateTime | null;
  error: string | null;
}

export interface MeterDto extends RecordDto {
  name: string;
  event_name: string;
  filters: MeterFilterDto[];
  aggregation: AggregationDto;
  reset_usage: ResetUsageDto;
  /** Grows by one with every change of the filters. @isInt */
  version: number;
  backfill: BackfillDto;
}

export interface MeterListDto {
  items: MeterDto[];
  pagination: PaginationDto;
}

export function meterToDto(row: MeterRow): MeterDto {
  return {
    ...recordToDto(row),
    name: row.name,
    event_name: row.event_name,
    filters: row.filters,
    aggregation: {
      type: row.aggregation_type,
      field: row.aggregation_field,
      expression: row.aggregation_expression,
      group_by: row.aggregation_group_by,
      multiplier:
        row.aggregation_multiplier === null ? null : rateToDto(row.aggregation_multiplier),
      bucket_size: row.bucket_size,
    },
    reset_usage: row.reset_usage,
    version: row.version,
    backfill: row.backfill,
  };
}
