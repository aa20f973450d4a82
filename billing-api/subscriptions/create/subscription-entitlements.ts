import { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import {
  onePeriod,
  wholePeriodsIn,
  type BilledEvery,
} from '../../domain/calendar/billing-length.js';
import { firstPeriod, gridPeriodAt } from '../../domain/calendar/billing-periods.js';
import { scaleAllowance } from '../../domain/entitlement/scale-allowance.js';
import type { SubscriptionTerms } from '../../domain/invoice/subscription-terms.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import {
  ENTITLEMENTS,
  type EntitlementReset,
  type EntitlementRow,
  type NewEntitlement,
} from '../../entitlements/entitlement.resource.js';
import { createRecords } from '../../records/create-record.js';
import { collect, invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { OverrideEntitlementBody } from './entitlement-overrides.js';

/**
 * The entitlement of the subscription that takes the place of one of its plan (docs/domain.md
 * 10.1).
 */
function replacementOf(parent: EntitlementRow, subscriptionId: string): NewEntitlement {
  return {
    feature_id: parent.feature_id,
    feature_type: parent.feature_type,
    entity_type: 'SUBSCRIPTION',
    entity_id: subscriptionId,
    parent_entitlement_id: parent.id,
    is_enabled: parent.is_enabled,
    is_soft_limit: parent.is_soft_limit,
    static_value: parent.static_value,
    usage_limit: parent.usage_limit,
    usage_reset_period: parent.usage_reset_period,
    display_order: parent.display_order,
    start_date: parent.start_date,
    end_date: parent.end_date,
    metadata: {},
  };
}

/** The entitlements that a request gives the subscription in place of those of its plan. */
function overriddenEntitlements(
  ofPlan: readonly EntitlementRow[],
  overrides: readonly OverrideEntitlementBody[],
  subscriptionId: string,
): readonly NewEntitlement[] | Refusal {
  return collect({ items: overrides, isBulk: false }, (override, index) => {
    const parent = ofPlan.find(({ id }) => id === override.parent_entitlement_id);
    if (parent === undefined) {
      const member = `override_entitlements.${index}.parent_entitlement_id`;
      return invalid({ [member]: 'must be a published entitlement of the plan' });
    }
    return {
      ...replacementOf(parent, subscriptionId),
      usage_limit: override.usage_limit ?? parent.usage_limit,
      is_enabled: override.is_enabled ?? parent.is_enabled,
      static_value: override.static_value ?? parent.static_value,
    };
  });
}

/** Whether the reset window of an allowance is the billing period (docs/domain.md 10.2). */
function resetsWithPeriod(reset: EntitlementReset, every: BilledEvery): boolean {
  if (reset === null) return true;
  if (reset === 'NEVER') return false;
  return wholePeriodsIn(onePeriod(reset), every) === 1;
}

/**
 * With create_prorations a short first period has its share of the plan's allowances that renew
 * with the billing period (docs/domain.md 22.2); none without it, or for a full first period.
 */
function scaledEntitlements(
  ofPlan: readonly EntitlementRow[],
  terms: SubscriptionTerms,
  first: { readonly subscriptionId: string; readonly period: Interval },
): readonly NewEntitlement[] {
  const { period, subscriptionId } = first;
  const full = gridPeriodAt(terms, period.startMs);
  const isShort = period.startMs > full.startMs || period.endMs < full.endMs;
  if (terms.prorationBehavior === 'none' || !isShort) return [];
  const share = {
    coveredMs: period.endMs - period.startMs,
    fullMs: full.endMs - full.startMs,
  };
  return ofPlan.flatMap((parent) => {
    const { usage_limit: limit, usage_reset_period: reset } = parent;
    if (limit === null || parent.feature_type !== 'metered') return [];
    if (!resetsWithPeriod(reset, terms)) return [];
    return {
      ...replacementOf(parent, subscriptionId),
      usage_limit: scaleAllowance(new Decimal(limit), share).toNumber(),
      start_date: period.startMs,
      end_date: period.endMs,
    };
  });
}

/** The subscription whose entitlements differ from those of its plan. */
type EntitledSubscription = {
  readonly subscriptionId: string;
  readonly planId: string;
  readonly terms: SubscriptionTerms;
};

/** Stores the entitlements that the subscription has in place of those of its plan. */
export async function storeEntitlements(
  unit: Unit,
  { subscriptionId, planId, terms }: EntitledSubscription,
  overrides: readonly OverrideEntitlementBody[],
): Promise<Refusal | null> {
  const ofPlan = await findEntitlementsOf(unit.tx, [planId]);
  const overridden = overriddenEntitlements(ofPlan, overrides, subscriptionId);
  if (isRefusal(overridden)) return overridden;
  const first = { subscriptionId, period: firstPeriod(terms) };
  const items = [...overridden, ...scaledEntitlements(ofPlan, terms, first)];
  const stored = await createRecords(unit, ENTITLEMENTS, { items, isBulk: false });
  return isRefusal(stored) ? stored : null;
}
