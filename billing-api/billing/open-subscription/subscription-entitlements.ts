import type { ProrationBehavior } from '../../domain/calendar/proration.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import {
  ENTITLEMENTS,
  type EntitlementRow,
  type NewEntitlement,
} from '../../declarations/entitlements/entitlement.resource.js';
import { createRecords } from '../../records/create-record.js';
import { collect, invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { OverrideEntitlementBody } from './entitlement-overrides.js';
import { replacementOf, scaledEntitlements } from './scaled-entitlements.js';

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

/** The subscription whose entitlements differ from those of its plan. */
type EntitledSubscription = {
  readonly subscriptionId: string;
  readonly planId: string;
  readonly ledger: PeriodLedger;
  readonly prorationBehavior: ProrationBehavior;
};

/** Stores the entitlements that the subscription has in place of those of its plan. */
export async function storeEntitlements(
  unit: Unit,
  { subscriptionId, planId, ledger, prorationBehavior }: EntitledSubscription,
  overrides: readonly OverrideEntitlementBody[],
): Promise<Refusal | null> {
  const ofPlan = await findEntitlementsOf(unit.tx, [planId]);
  const overridden = overriddenEntitlements(ofPlan, overrides, subscriptionId);
  if (isRefusal(overridden)) return overridden;
  const first = { subscriptionId, every: ledger, period: ledger.periods[0] };
  const scaled = prorationBehavior === 'create_prorations' ? scaledEntitlements(ofPlan, first) : [];
  const items = [...overridden, ...scaled];
  const stored = await createRecords(unit, ENTITLEMENTS, { items, isBulk: false });
  return isRefusal(stored) ? stored : null;
}
