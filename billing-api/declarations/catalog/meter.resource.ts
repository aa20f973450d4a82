import { z } from 'zod';
import type { AGGREGATION_TYPES } from '../../../contract/aggregation.js';
import { meterFiltersColumn } from '../../../sql/columns.js';
import { aggregationColumns } from '../../../sql/meter-aggregation.js';
import {
  hidden,
  integer,
  json,
  nullable,
  oneOf,
  recordVersion,
  text,
  withDefault,
} from '../../records/columns.js';
import type { ListQuery } from '../../records/list-request.js';
import {
  rateToDto,
  type DateTime,
  type DecimalText,
  type MetadataDto,
  type ListDto,
  type RecordDto,
} from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

const backfillColumn = z.object({
  status: z.enum(['none', 'running', 'completed', 'failed']),
  events_scanned: z.number().int(),
  events_matched: z.number().int(),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  /** Absent in what releases before 0028 wrote. */
  counts_from: z.string().nullable().default(null),
  error: z.string().nullable(),
});

/** Of a meter that no event had come before. */
const NO_BACKFILL: z.output<typeof backfillColumn> = {
  status: 'none',
  events_scanned: 0,
  events_matched: 0,
  started_at: null,
  completed_at: null,
  counts_from: null,
  error: null,
};

const bucketSize = z.enum([
  'MINUTE',
  '15MIN',
  '30MIN',
  'HOUR',
  '3HOUR',
  '6HOUR',
  '12HOUR',
  'DAY',
  'WEEK',
  'MONTH',
]);

export const METERS = defineResource({
  name: 'meter',
  idPrefix: 'meter',
  table: 'meters',
  columns: {
    name: text,
    event_name: text,
    filters: json(meterFiltersColumn),
    // Answered together, as `aggregation`.
    aggregation_type: hidden(json(aggregationColumns.aggregation_type)),
    aggregation_field: hidden(json(aggregationColumns.aggregation_field)),
    aggregation_expression: hidden(json(aggregationColumns.aggregation_expression)),
    aggregation_multiplier: hidden(json(aggregationColumns.aggregation_multiplier)),
    aggregation_group_by: hidden(json(aggregationColumns.aggregation_group_by)),
    bucket_size: hidden(json(bucketSize.nullable())),
    bucket_pricing: hidden(withDefault(nullable(oneOf(['bucket', 'period'])))),
    reset_usage: oneOf(['BILLING_PERIOD', 'NEVER']),
    /** Grows with the filters only: each version is a definition that events are counted by. */
    version: integer,
    /** Grows with every change: that of the ETag. */
    record_version: recordVersion,
    /** The version that readers see; behind `version` while a change is being backfilled. */
    read_version: hidden(integer),
    /** Written by the backfill. */
    backfill: withDefault(
      json(backfillColumn.nullable().transform((backfill) => backfill ?? NO_BACKFILL)),
    ),
  },
  removal: 'archived',
});
export type MeterRow = RecordOf<typeof METERS>;

export type AggregationTypeDto = (typeof AGGREGATION_TYPES)[number];

export type WindowSizeDto =
  'MINUTE' | '15MIN' | '30MIN' | 'HOUR' | '3HOUR' | '6HOUR' | '12HOUR' | 'DAY' | 'WEEK' | 'MONTH';

export type BucketPricingDto = 'bucket' | 'period';

export type ResetUsageDto = 'BILLING_PERIOD' | 'NEVER';

/** The property `key` must have one of these texts. */
export interface MeterFilterDto {
  /** @minLength 1 @maxLength 255 */
  key: string;
  /** @minItems 1 @maxItems 1000 */
  values: string[];
}

/**
 * What becomes of the events. Every type but COUNT needs a `field` or, with SUM, AVG, MAX, MIN and
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
  /** Greater than 0; needed by SUM_WITH_MULTIPLIER, possible with SUM, AVG, MAX, MIN and LATEST. */
  multiplier?: DecimalText;
  /** With COUNT, SUM and MAX of meters that reset. */
  bucket_size?: WindowSizeDto;
  /**
   * Whether tiers and packages begin anew in every bucket, or run over the billing period. With
   * COUNT `period` when absent, else `bucket`; MAX has no other.
   */
  bucket_pricing?: BucketPricingDto;
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
  /** Null without buckets. */
  bucket_pricing: BucketPricingDto | null;
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
  /**
   * Events that arrived before this instant had been removed by retention when the version was
   * applied, so it does not count them; null when it counts all events.
   */
  counts_from: DateTime | null;
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

export interface MetersQuery extends ListQuery {
  event_name?: string;
}

export interface MeterListDto extends ListDto<MeterDto> {}

export function meterToDto(row: MeterRow): MeterDto {
  const multiplier = row.aggregation_multiplier;
  return {
    ...recordToDto(METERS, row),
    aggregation: {
      type: row.aggregation_type,
      field: row.aggregation_field,
      expression: row.aggregation_expression,
      group_by: row.aggregation_group_by,
      multiplier: multiplier === null ? null : rateToDto(multiplier),
      bucket_size: row.bucket_size,
      bucket_pricing: row.bucket_size === null ? null : (row.bucket_pricing ?? 'bucket'),
    },
  };
}
