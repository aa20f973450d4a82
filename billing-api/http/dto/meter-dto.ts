import type { MeterRow } from '../../store/meters.js';
import {
  rateToDto,
  recordToDto,
  type DateTime,
  type DecimalText,
  type MetadataDto,
  type PaginationDto,
  type RecordDto,
} from './common.js';

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

export interface AggregationBody {
  type: AggregationTypeDto;
  field?: string;
  expression?: string;
  multiplier?: DecimalText;
  bucket_size?: WindowSizeDto;
  group_by?: string;
}

/**
 * A meter counts events of one name.
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

export interface AggregationDto {
  type: AggregationTypeDto;
  field: string | null;
  expression: string | null;
  group_by: string | null;
  multiplier: DecimalText | null;
  bucket_size: WindowSizeDto | null;
}

export interface BackfillDto {
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
  /** Grows by one with every change of the definition. @isInt */
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
