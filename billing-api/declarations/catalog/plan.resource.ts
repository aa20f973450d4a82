import {
  hidden,
  integer,
  json,
  nullable,
  recordVersion,
  text,
  withDefault,
} from '../../records/columns.js';
import { givenLateUsage, type LateUsageRulesDto } from '../platform/late-usage-rules.js';
import type { MetadataDto, RecordDto, SearchBody } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const PLANS = defineResource({
  name: 'plan',
  idPrefix: 'plan',
  table: 'plans',
  columns: {
    name: text,
    description: nullable(text),
    lookup_key: nullable(text),
    display_order: nullable(integer),
    late_usage: withDefault(nullable(json(givenLateUsage))),
    /** The sequence of its newest price; the next price takes one more, under the plan's lock. */
    price_sequence: hidden(withDefault(integer)),
    version: recordVersion,
  },
  unique: { plans_lookup_key: 'lookup_key' },
  removal: 'archived',
});
export type PlanRow = RecordOf<typeof PLANS>;

/** A plan without its expandable members. */
export interface PlanDto extends RecordDto {
  name: string;
  description: string | null;
  lookup_key: string | null;
  /** @isInt */
  display_order: number | null;
  /** What it says of late usage; null where the setting decides. */
  late_usage: LateUsageRulesDto | null;
}

export function planToDto(row: PlanRow): PlanDto {
  return recordToDto(PLANS, row);
}

/** @example {"name": "Pro", "lookup_key": "pro", "description": "For growing teams"} */
export interface CreatePlanBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** @maxLength 10000 */
  description?: string;
  /** @minLength 1 @maxLength 255 */
  lookup_key?: string;
  /**
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  display_order?: number;
  late_usage?: LateUsageRulesDto;
  metadata?: MetadataDto;
}

/**
 * A copy with the live prices, the entitlements and the credit grants of the plan.
 * @example {"name": "Pro 2027", "lookup_key": "pro-2027"}
 */
export interface ClonePlanBody {
  /** That of the source with " (copy)" when absent. @minLength 1 @maxLength 255 */
  name?: string;
  /** @minLength 1 @maxLength 255 */
  lookup_key?: string;
  /** That of the source when absent. @maxLength 10000 */
  description?: string;
  /**
   * That of the source when absent.
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  display_order?: number;
  /** Added to those of the source, and to `source_plan_id`. */
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed.
 * @example {"name": "Pro 2026", "description": null}
 */
export interface ChangePlanBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Null clears it. @maxLength 10000 */
  description?: string | null;
  /**
   * Null clears it.
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  display_order?: number | null;
  /** Replaced as a whole; null clears it. */
  late_usage?: LateUsageRulesDto | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

export interface SearchPlansBody extends SearchBody {
  /** @maxItems 1000 */
  plan_ids?: string[];
  /** @maxItems 1000 */
  lookup_keys?: string[];
  /** Upper and lower case are the same. */
  name_contains?: string;
}
