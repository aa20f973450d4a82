import type { EntitlementRow } from './entitlements-store.js';
import type { EntitlementSurroundings } from './read-entitlements.js';
import {
  instantToDto,
  recordToDto,
  type DateTime,
  type PaginationDto,
  type RecordDto,
  type SearchBody,
} from '../records/record-dto.js';
import {
  featureToDto,
  type FeatureDto,
  type FeatureTypeDto,
} from '../catalog/features/feature.resource.js';
import type { AddonDto } from '../records/later-dto.js';
import { planToDto, type PlanDto } from '../catalog/plans/plan.resource.js';
import type { BillingPeriod } from '../domain/calendar/billing-grid.js';

export type EntitlementOwnerDto = 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
/** NEVER: one allowance for the life of the subscription. */
export type UsageResetPeriodDto = BillingPeriod | 'NEVER';

/**
 * What a plan or a subscription allows of a feature.
 * @example {"feature_id": "feat_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "plan_id":
 *   "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "usage_limit": 1000}
 */
export interface CreateEntitlementBody {
  feature_id: string;
  /** Either this or `entity_id`. */
  plan_id?: string;
  /** A plan or a subscription. */
  entity_id?: string;
  /** Follows from the record that `entity_id` names. Addons are not available yet. */
  entity_type?: EntitlementOwnerDto;
  /** That of the feature. */
  feature_type?: FeatureTypeDto;
  /** Of a subscription's: the entitlement of its plan that it replaces. */
  parent_entitlement_id?: string;
  /** @default true */
  is_enabled?: boolean;
  /** Never changes what is billed. @default false */
  is_soft_limit?: boolean;
  /** Required for a static feature. @maxLength 10000 */
  static_value?: string;
  /**
   * Units of the meter that are free; unlimited when absent.
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   */
  usage_limit?: number;
  /** The billing period when absent. */
  usage_reset_period?: UsageResetPeriodDto;
  /**
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  display_order?: number;
  start_date?: DateTime;
  end_date?: DateTime;
}

export interface CreateEntitlementsBody {
  /**
   * All of them are stored, or none.
   * @minItems 1
   * @maxItems 100
   */
  items: CreateEntitlementBody[];
}

/**
 * Members that are present are changed; null clears one.
 * @example {"usage_limit": 2000}
 */
export interface ChangeEntitlementBody {
  is_enabled?: boolean;
  is_soft_limit?: boolean;
  /** @maxLength 10000 */
  static_value?: string | null;
  /**
   * Null: unlimited.
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   */
  usage_limit?: number | null;
  /** Null: the billing period. */
  usage_reset_period?: UsageResetPeriodDto | null;
  /**
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  display_order?: number | null;
  end_date?: DateTime | null;
}

/** In lists, `feature`, `plan` and `addon` only when expanded. */
export interface EntitlementDto extends RecordDto {
  feature_id: string;
  feature?: FeatureDto | null;
  feature_type: FeatureTypeDto;
  entity_type: EntitlementOwnerDto;
  entity_id: string;
  plan_id: string | null;
  plan?: PlanDto | null;
  addon?: AddonDto | null;
  parent_entitlement_id: string | null;
  is_enabled: boolean;
  is_soft_limit: boolean;
  static_value: string | null;
  /** @isInt */
  usage_limit: number | null;
  usage_reset_period: UsageResetPeriodDto | null;
  /** @isInt */
  display_order: number | null;
  start_date: DateTime | null;
  end_date: DateTime | null;
}

export interface EntitlementListDto {
  items: EntitlementDto[];
  pagination: PaginationDto;
}

export interface EntitlementsDto {
  items: EntitlementDto[];
}

export interface SearchEntitlementsBody extends SearchBody {
  /** @maxItems 1000 */
  feature_ids?: string[];
  /** @maxItems 1000 */
  plan_ids?: string[];
  entity_type?: EntitlementOwnerDto;
  /** @maxItems 1000 */
  entity_ids?: string[];
  feature_type?: FeatureTypeDto;
  is_enabled?: boolean;
}

type ExpandedMembers = Pick<EntitlementDto, 'feature' | 'plan' | 'addon'>;

/** Addons cannot exist yet, so theirs is null. */
function expandedMembers(
  row: EntitlementRow,
  { features, plans, names }: EntitlementSurroundings,
): ExpandedMembers {
  const feature = features.get(row.feature_id);
  const plan = plans.get(row.entity_id);
  return {
    ...(names.has('feature')
      ? { feature: feature === undefined ? null : featureToDto(feature) }
      : {}),
    ...(names.has('plan') ? { plan: plan === undefined ? null : planToDto(plan) } : {}),
    ...(names.has('addon') ? { addon: null } : {}),
  };
}

/** Entitlements without anything expanded. */
export const ENTITLEMENT_PLAIN: EntitlementSurroundings = {
  features: new Map(),
  plans: new Map(),
  names: new Set(),
};

export function entitlementToDto(
  row: EntitlementRow,
  surroundings: EntitlementSurroundings,
): EntitlementDto {
  return {
    ...recordToDto(row),
    feature_id: row.feature_id,
    feature_type: row.feature_type,
    entity_type: row.entity_type,
    entity_id: row.entity_id,
    plan_id: row.entity_type === 'PLAN' ? row.entity_id : null,
    parent_entitlement_id: row.parent_entitlement_id,
    is_enabled: row.is_enabled,
    is_soft_limit: row.is_soft_limit,
    static_value: row.static_value,
    usage_limit: row.usage_limit,
    usage_reset_period: row.usage_reset_period,
    display_order: row.display_order,
    start_date: instantToDto(row.start_date),
    end_date: instantToDto(row.end_date),
    ...expandedMembers(row, surroundings),
  };
}
