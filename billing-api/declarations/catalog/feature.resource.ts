import { z } from 'zod';
import { json, nullable, oneOf, recordVersion, text } from '../../records/columns.js';
import type { MetadataDto, ListDto, RecordDto, SearchBody } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import {
  alertSettings,
  type AlertSettingsBody,
  type AlertSettingsDto,
} from '../alerts/alert-settings.js';
import { GROUPS, type GroupDto } from './group.resource.js';
import {
  METERS,
  type CreateMeterBody,
  type MeterDto,
  type MeterFilterDto,
} from './meter.resource.js';

/** The members of a feature in the payload of its events (docs/http.md 11.3). */
const TOLD = [
  'id',
  'name',
  'lookup_key',
  'description',
  'type',
  'unit_singular',
  'unit_plural',
  'meter_id',
  'group_id',
  'metadata',
] as const;
export type ToldOfFeature = (typeof TOLD)[number];

export const FEATURES = defineResource({
  name: 'feature',
  idPrefix: 'feat',
  table: 'features',
  columns: {
    name: text,
    description: nullable(text),
    lookup_key: text,
    type: oneOf(['metered', 'boolean', 'static']),
    meter_id: nullable(text),
    group_id: nullable(text),
    unit_singular: nullable(text),
    unit_plural: nullable(text),
    reporting_unit: nullable(
      json(
        z.object({
          conversion_rate: z.number(),
          unit_singular: z.string(),
          unit_plural: z.string(),
        }),
      ),
    ),
    alert_settings: nullable(alertSettings),
    version: recordVersion,
  },
  unique: { features_lookup_key: 'lookup_key' },
  references: {
    meter_id: METERS,
    group_id: { ...GROUPS, having: { column: 'entity_type', is: 'feature' } },
  },
  removal: 'archived',
  announces: TOLD,
});
export type FeatureRow = RecordOf<typeof FEATURES>;

export type FeatureTypeDto = 'metered' | 'boolean' | 'static';

export interface ReportingUnitDto {
  /** Displayed usage is usage times this; greater than 0. */
  conversion_rate: number;
  /** @minLength 1 @maxLength 100 */
  unit_singular: string;
  /** @minLength 1 @maxLength 100 */
  unit_plural: string;
}

/**
 * A metered feature names its meter by `meter_id`, or brings a new one in `meter`.
 * @example {"name": "API calls", "type": "metered", "lookup_key": "api_calls", "unit_singular":
 *   "call", "unit_plural": "calls", "meter": {"name": "API calls", "event_name": "api.request",
 *   "aggregation": {"type": "COUNT"}}}
 */
export interface CreateFeatureBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  type: FeatureTypeDto;
  /** Derived from the name when absent. @minLength 1 @maxLength 255 */
  lookup_key?: string;
  /** @maxLength 10000 */
  description?: string;
  meter_id?: string;
  meter?: CreateMeterBody;
  metadata?: MetadataDto;
  /** @maxLength 100 */
  unit_singular?: string;
  /** @maxLength 100 */
  unit_plural?: string;
  reporting_unit?: ReportingUnitDto;
  alert_settings?: AlertSettingsBody;
  /** A group with the entity_type feature. */
  group_id?: string;
}

/**
 * Members that are present are changed, and null clears one; key, type and meter never change.
 * @example {"name": "API requests", "unit_singular": "request", "unit_plural": "requests"}
 */
export interface ChangeFeatureBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** @maxLength 10000 */
  description?: string | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
  /** @maxLength 100 */
  unit_singular?: string | null;
  /** @maxLength 100 */
  unit_plural?: string | null;
  reporting_unit?: ReportingUnitDto | null;
  alert_settings?: AlertSettingsBody | null;
  /** A group with the entity_type feature; "" and null take it out of its group. */
  group_id?: string | null;
  /**
   * Replaces the filters of the feature's meter, as PUT /meters/{id} does.
   * @maxItems 100
   */
  filters?: MeterFilterDto[];
}

/**
 * A copy with a meter of its own.
 * @example {"name": "API calls, second region"}
 */
export interface CloneFeatureBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** Derived from the name when absent. @minLength 1 @maxLength 255 */
  lookup_key?: string;
  /** That of the source when absent. @maxLength 10000 */
  description?: string;
  /** Added to those of the source, and to `source_feature_id`. */
  metadata?: MetadataDto;
}

/** A feature without its expandable members. */
export interface FeatureDto extends RecordDto {
  name: string;
  description: string | null;
  lookup_key: string;
  type: FeatureTypeDto;
  meter_id: string | null;
  group_id: string | null;
  unit_singular: string | null;
  unit_plural: string | null;
  reporting_unit: ReportingUnitDto | null;
  alert_settings: AlertSettingsDto | null;
}

/** What a feature refers to; in lists only when expanded. */
export interface FeatureExpansionsDto {
  meter?: MeterDto | null;
  group?: GroupDto | null;
}

export interface ExpandedFeatureDto extends FeatureDto, FeatureExpansionsDto {}

export interface FeatureListDto extends ListDto<ExpandedFeatureDto> {}

export interface SearchFeaturesBody extends SearchBody {
  /** @maxItems 1000 */
  feature_ids?: string[];
  /** @maxItems 1000 */
  meter_ids?: string[];
  lookup_key?: string;
  /** @maxItems 1000 */
  lookup_keys?: string[];
  /** Upper and lower case are the same. */
  name_contains?: string;
  type?: FeatureTypeDto;
}

export function featureToDto(row: FeatureRow): FeatureDto {
  return recordToDto(FEATURES, row);
}
