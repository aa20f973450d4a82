import { ADDONS, type AddonRow } from '../../declarations/catalog/addon.resource.js';
import type { FeatureRow } from '../../declarations/catalog/feature.resource.js';
import { PLANS, type PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import {
  customerEntitlements,
  type CustomerEntitlement,
} from '../../domain/entitlement/customer-entitlement.js';
import { findRecords } from '../../records/find-record.js';
import type { ReadUnit } from '../../records/unit.js';
import {
  findSourcesOfSubscriptions,
  type SubscriptionSource,
} from '../../subscriptions/entitlement-sources.js';
import { findUsageOwners, ruledBy } from '../../subscriptions/children-store.js';
import { mustGet } from '../../../runtime/failure.js';
import type { UsageOwner } from '../../domain/usage/usage-owner.js';
import { findSubscriptionsInForce, type LiveSubscription } from './live-subscriptions.js';

export type AccessEntitlement = CustomerEntitlement<SubscriptionSource>;

/** What a customer may use now, by all of its subscriptions that are in force. */
export type CustomerAccess = {
  readonly customer: CustomerRow;
  /** Oldest first. */
  readonly subscriptions: readonly LiveSubscription[];
  readonly plans: ReadonlyMap<string, PlanRow>;
  /** Those that give an entitlement. */
  readonly addons: ReadonlyMap<string, AddonRow>;
  readonly entitlements: readonly AccessEntitlement[];
  /** Whose usage counts for each subscription (docs/domain.md 29.1). */
  readonly usageOf: ReadonlyMap<string, readonly UsageOwner[]>;
  /** Those of the entitlements. */
  readonly features: ReadonlyMap<string, FeatureRow>;
};

/** Only these subscriptions and features; all of them where a list is absent. */
export type AccessFilter = {
  readonly subscriptionIds?: readonly string[] | undefined;
  readonly featureIds?: readonly string[] | undefined;
};

/** Loads what a customer may use at the instant of the unit (docs/domain.md 10.3). */
export async function loadCustomerAccess(
  unit: ReadUnit,
  { customer, filter }: { readonly customer: CustomerRow; readonly filter: AccessFilter },
): Promise<CustomerAccess> {
  const query = { customerId: customer.id, ids: filter.subscriptionIds };
  const subscriptions = await findSubscriptionsInForce(unit, query);
  const rows = subscriptions.map(({ row }) => row);
  const { sources, features } = await findSourcesOfSubscriptions(unit, subscriptions);
  const wanted = filter.featureIds === undefined ? null : new Set(filter.featureIds);
  const entitlements = customerEntitlements(sources, unit.now).filter(
    ({ featureId }) => wanted === null || wanted.has(featureId),
  );
  const planIds = rows.map((row) => row.plan_id);
  const plans = await findRecords(unit, PLANS, planIds);
  const given = sources.flat().filter(({ row }) => row.entity_type === 'ADDON');
  const addonIds = given.map(({ row }) => row.entity_id);
  const addons = await findRecords(unit, ADDONS, addonIds);
  const owners = await findUsageOwners(unit, rows.map(ruledBy));
  const usageOf = new Map(
    rows.map((row) => [row.id, mustGet(owners, ruledBy(row), 'the owners of usage')]),
  );
  return { customer, subscriptions, plans, addons, entitlements, features, usageOf };
}
