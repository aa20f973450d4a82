import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { featureToDto, type FeatureDto } from '../../declarations/catalog/feature.resource.js';
import type {
  EntitlementOwnerDto,
  UsageResetPeriodDto,
} from '../../declarations/entitlements/entitlement.resource.js';
import type { SubscriptionSource } from '../../subscriptions/entitlement-sources.js';
import {
  subscriptionToDto,
  type SubscriptionDto,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { AccessEntitlement, CustomerAccess } from './load-customer-access.js';

/** One entitlement that counts, by one subscription. */
export interface EntitlementSourceDto {
  subscription_id: string;
  entity_type: EntitlementOwnerDto;
  entity_id: string;
  /** Of a plan or an addon its name; of a subscription that of its plan. */
  entity_name: string;
  /** How often it counts: of an addon, as often as the subscription has that now. @isInt */
  quantity: number;
  entitlement_id: string;
  /** A disabled one counts nothing, and is what gave the feature up. */
  is_enabled: boolean;
  /** Null: unlimited. @isInt */
  usage_limit: number | null;
  usage_reset_period: UsageResetPeriodDto | null;
  static_value: string | null;
}

/** All sources of a feature together. */
export interface CombinedEntitlementDto {
  is_enabled: boolean;
  /**
   * The sum of the limits; null for an unlimited feature, and for one that is not metered. Beyond
   * 2^53 it is the nearest double; `total_limit` of the usage is exact.
   * @isInt
   */
  usage_limit: number | null;
  is_soft_limit: boolean;
  /** Null: the billing period. */
  usage_reset_period: UsageResetPeriodDto | null;
  static_values: string[];
}

export interface EntitledFeatureDto {
  feature: FeatureDto;
  entitlement: CombinedEntitlementDto;
  sources: EntitlementSourceDto[];
}

/** What a customer may use now. */
export interface CustomerEntitlementsDto {
  customer_id: string;
  /** Those in force, oldest first. */
  subscriptions: SubscriptionDto[];
  features: EntitledFeatureDto[];
}

/** The name of what gives an entitlement. */
function ownerName(
  { row, subscriptionId }: SubscriptionSource,
  { subscriptions, plans, addons }: CustomerAccess,
): string {
  const subscription = subscriptions.find((one) => one.row.id === subscriptionId);
  const owner =
    row.entity_type === 'ADDON'
      ? addons.get(row.entity_id)
      : plans.get(assertPresent(subscription, 'the subscription of an entitlement').row.plan_id);
  return assertPresent(owner, 'what gives an entitlement').name;
}

function sourceToDto(source: SubscriptionSource, access: CustomerAccess): EntitlementSourceDto {
  const { row, subscriptionId } = source;
  return {
    subscription_id: subscriptionId,
    entity_type: row.entity_type,
    entity_id: row.entity_id,
    entity_name: ownerName(source, access),
    quantity: 1,
    entitlement_id: row.id,
    is_enabled: row.is_enabled,
    usage_limit: row.usage_limit,
    usage_reset_period: row.usage_reset_period,
    static_value: row.static_value,
  };
}

/** A subscription may have an addon several times: that is one source with this quantity. */
export function sourcesToDto(
  { sources }: AccessEntitlement,
  access: CustomerAccess,
): EntitlementSourceDto[] {
  const answered = new Map<string, EntitlementSourceDto>();
  for (const source of sources) {
    const key = `${source.subscriptionId} ${source.row.id}`;
    const known = answered.get(key);
    if (known === undefined) answered.set(key, sourceToDto(source, access));
    else known.quantity += 1;
  }
  return [...answered.values()];
}

export function featureOf(
  { featureId }: AccessEntitlement,
  { features }: CustomerAccess,
): FeatureDto {
  return featureToDto(assertPresent(features.get(featureId), 'the feature of an entitlement'));
}

/** The sum of the limits: null for unlimited, 0 while every source is disabled. */
export function limitOf({ effective }: AccessEntitlement): Decimal | null {
  return effective === null ? ZERO : effective.usageLimit;
}

function combinedToDto(entitlement: AccessEntitlement): CombinedEntitlementDto {
  const { effective, sources } = entitlement;
  const limit = sources[0].featureType === 'metered' ? limitOf(entitlement) : null;
  return {
    is_enabled: effective !== null,
    usage_limit: limit?.toNumber() ?? null,
    is_soft_limit: effective?.isSoftLimit ?? false,
    usage_reset_period: effective?.usageResetPeriod ?? null,
    static_values: effective === null ? [] : [...effective.staticValues],
  };
}

export function customerEntitlementsToDto(access: CustomerAccess): CustomerEntitlementsDto {
  const { customer, subscriptions, plans, entitlements } = access;
  return {
    customer_id: customer.id,
    subscriptions: subscriptions.map(({ row }) =>
      subscriptionToDto(row, mustGet(plans, row.plan_id, 'the plan of a subscription')),
    ),
    features: entitlements.map((entitlement) => ({
      feature: featureOf(entitlement, access),
      entitlement: combinedToDto(entitlement),
      sources: sourcesToDto(entitlement, access),
    })),
  };
}
