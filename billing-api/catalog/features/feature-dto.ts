import type { FeatureRow } from './features-store.js';
import type { MeterRow } from '../meters/meters-store.js';
import {
  recordToDto,
  type DateTime,
  type MetadataDto,
  type PaginationDto,
  type RecordDto,
  type SearchBody,
} from '../../records/record-dto.js';
import { meterToDto, type CreateMeterBody, type MeterDto } from '../meters/meter-dto.js';

export type FeatureTypeDto = 'metered' | 'boolean' | 'static';

export interface ReportingUnitDto {
  /** Displayed usage is usage times this; greater than 0. */
  conversion_rate: number;
  /** @minLength 1 @maxLength 100 */
  unit_singular: string;
  /** @minLength 1 @maxLength 100 */
  unit_plural: string;
}

export interface AlertLevelDto {
  condition: 'above' | 'below';
  threshold: number;
}

export interface AlertSettingsBody {
  alert_enabled?: boolean;
  critical?: AlertLevelDto;
  warning?: AlertLevelDto;
  info?: AlertLevelDto;
}

export interface AlertSettingsDto {
  alert_enabled: boolean;
  critical: AlertLevelDto | null;
  warning: AlertLevelDto | null;
  info: AlertLevelDto | null;
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
  /** Groups are not available yet: refused when given. */
  group_id?: string;
}

export interface GroupDto {
  id: string;
  name: string;
  lookup_key: string;
  entity_type: string;
  entity_ids: string[];
  status: string;
  metadata: MetadataDto;
  created_at: DateTime;
  updated_at: DateTime;
}

export interface FeatureDto extends RecordDto {
  name: string;
  description: string | null;
  lookup_key: string;
  type: FeatureTypeDto;
  meter_id: string | null;
  /** In lists only when expanded. */
  meter?: MeterDto | null;
  group_id: string | null;
  /** In lists only when expanded. */
  group?: GroupDto | null;
  unit_singular: string | null;
  unit_plural: string | null;
  reporting_unit: ReportingUnitDto | null;
  alert_settings: AlertSettingsDto | null;
}

export interface FeatureListDto {
  items: FeatureDto[];
  pagination: PaginationDto;
}

export interface SearchFeaturesBody extends SearchBody {
  /** @maxItems 1000 */
  feature_ids?: string[];
  /** @maxItems 1000 */
  meter_ids?: string[];
  lookup_key?: string;
  /** @maxItems 1000 */
  lookup_keys?: string[];
  /** In any case. */
  name_contains?: string;
  type?: FeatureTypeDto;
}

/** What was read beside a feature; absent means that it was not asked for. */
export type FeatureExpansions = {
  readonly meters?: ReadonlyMap<string, MeterRow>;
  readonly withGroup?: boolean;
};

export function featureToDto(row: FeatureRow, expansions: FeatureExpansions): FeatureDto {
  const meter = expansions.meters?.get(row.meter_id ?? '');
  return {
    ...recordToDto(row),
    name: row.name,
    description: row.description,
    lookup_key: row.lookup_key,
    type: row.type,
    meter_id: row.meter_id,
    ...(expansions.meters === undefined
      ? {}
      : { meter: meter === undefined ? null : meterToDto(meter) }),
    group_id: row.group_id,
    ...(expansions.withGroup === true ? { group: null } : {}),
    unit_singular: row.unit_singular,
    unit_plural: row.unit_plural,
    reporting_unit: row.reporting_unit,
    alert_settings: row.alert_settings,
  };
}
