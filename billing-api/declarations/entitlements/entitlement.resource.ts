import {
  flag,
  hidden,
  instant,
  integer,
  nullable,
  oneOf,
  safeInteger,
  text,
  withDefault,
} from '../../records/columns.js';
import {
  expandedToDto,
  refersTo,
  type Expanded,
  type Expansions,
} from '../../records/expand-record.js';
import type { DateTime, ListDto, RecordDto, SearchBody } from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';
import { ADDONS, addonToDto } from '../catalog/addon.resource.js';
import type { AddonDto } from '../../generated/standard/addon-types.js';
import {
  FEATURES,
  featureToDto,
  type FeatureDto,
  type FeatureTypeDto,
} from '../catalog/feature.resource.js';
import { PLANS, planToDto, type PlanDto } from '../catalog/plan.resource.js';
import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';

export const ENTITLEMENTS = defineResource({
  name: 'entitlement',
  idPrefix: 'ent',
  table: 'entitlements',
  columns: {
    feature_id: text,
    feature_type: oneOf(['metered', 'boolean', 'static']),
    entity_type: oneOf(['PLAN', 'ADDON', 'SUBSCRIPTION']),
    entity_id: text,
    parent_entitlement_id: nullable(text),
    is_enabled: flag,
    is_soft_limit: flag,
    static_value: nullable(text),
    usage_limit: nullable(safeInteger),
    usage_reset_period: nullable(
      oneOf(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'NEVER']),
    ),
    display_order: nullable(integer),
    start_date: nullable(instant),
    end_date: nullable(instant),
    /** It lasts as long as the first period of its subscription, wherever a pause moves its end. */
    is_of_first_period: hidden(withDefault(flag)),
  },
  removal: 'archived',
  announces: 'all',
  alsoTells: (_unit, { entity_type: type, entity_id: id }) => ({
    plan_id: type === 'PLAN' ? id : null,
  }),
});
export type EntitlementRow = RecordOf<typeof ENTITLEMENTS>;
export type NewEntitlement = NewRecord<(typeof ENTITLEMENTS)['columns']>;
export type EntitlementReset = EntitlementRow['usage_reset_period'];

export type EntitlementOwnerDto = 'PLAN' | 'ADDON' | 'SUBSCRIPTION';
/** NEVER: one allowance for the life of the subscription. */
export type UsageResetPeriodDto = BillingPeriod | 'NEVER';

/**
 * What a plan, an addon or a subscription allows of a feature.
 * @example {"feature_id": "feat_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "plan_id":
 *   "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "usage_limit": 1000}
 */
export interface CreateEntitlementBody {
  feature_id: string;
  /** Either this or `entity_id`. */
  plan_id?: string;
  /** A plan, an addon or a subscription. */
  entity_id?: string;
  /** Follows from the record that `entity_id` names. */
  entity_type?: EntitlementOwnerDto;
  /** That of the feature. */
  feature_type?: FeatureTypeDto;
  /**
   * Of a subscription's: the entitlement of its plan that it replaces. On a plan or an addon it has
   * no effect.
   */
  parent_entitlement_id?: string;
  /**
   * That the owner may have a live entitlement to this feature already: their limits then add up.
   * @default false
   */
  is_additional?: boolean;
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

/** An entitlement without its expandable members. */
export interface EntitlementDto extends RecordDto {
  feature_id: string;
  feature_type: FeatureTypeDto;
  entity_type: EntitlementOwnerDto;
  entity_id: string;
  plan_id: string | null;
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

/** What an entitlement refers to; in lists only when expanded. */
export interface EntitlementExpansionsDto {
  feature?: FeatureDto | null;
  plan?: PlanDto | null;
  addon?: AddonDto | null;
}

export interface ExpandedEntitlementDto extends EntitlementDto, EntitlementExpansionsDto {}

export interface EntitlementListDto extends ListDto<ExpandedEntitlementDto> {}

export interface EntitlementsDto {
  items: ExpandedEntitlementDto[];
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

/** Plan and addon are those of a plan's and of an addon's entitlement, else null. */
export const entitlementExpansions: Expansions<EntitlementRow, EntitlementExpansionsDto> = {
  feature: refersTo('feature_id', FEATURES, featureToDto),
  plan: refersTo('entity_id', PLANS, planToDto),
  addon: refersTo('entity_id', ADDONS, addonToDto),
};
export type ExpandedEntitlement = Expanded<EntitlementRow, EntitlementExpansionsDto>;

const planIdOf = (row: EntitlementRow): string | null =>
  row.entity_type === 'PLAN' ? row.entity_id : null;

export function entitlementToDto(row: EntitlementRow): EntitlementDto {
  return { ...recordToDto(ENTITLEMENTS, row), plan_id: planIdOf(row) };
}

export function expandedEntitlementToDto(entitlement: ExpandedEntitlement): ExpandedEntitlementDto {
  return { ...expandedToDto(ENTITLEMENTS, entitlement), plan_id: planIdOf(entitlement.row) };
}
