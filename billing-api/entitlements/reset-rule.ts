import type { FeatureRow } from '../catalog/features/feature.resource.js';
import { invalid, isRefusal, type Refusal } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import { lockOwner, type Owner } from './entitlement-owner.js';
import type { EntitlementReset, EntitlementRow } from './entitlement.resource.js';
import { findOtherResetsOfMeters, type ResetOfMeter } from './entitlements-store.js';

/** An entitlement that is to be stored, as far as its reset window goes. */
export type ResetWindow = {
  readonly feature: FeatureRow;
  readonly owner: Owner;
  readonly reset: EntitlementReset;
};

/** Whether entitlements of these owners can count for one subscription. */
function doMeet(left: Owner, right: Owner): boolean {
  if (left.id === right.id) return true;
  const [plan, subscription] = left.entityType === 'PLAN' ? [left, right] : [right, left];
  const arePlanAndSubscription = plan.entityType === 'PLAN' && subscription.entityType !== 'PLAN';
  return arePlanAndSubscription && subscription.planId === plan.id && !subscription.isCancelled;
}

function differInReset(own: ResetWindow, other: ResetWindow): boolean {
  const haveOneMeter =
    own.feature.meter_id !== null && own.feature.meter_id === other.feature.meter_id;
  const areOfOneFeature = own.feature.id === other.feature.id;
  return (
    haveOneMeter && !areOfOneFeature && own.reset !== other.reset && doMeet(own.owner, other.owner)
  );
}

function refusalOf({ feature_id: featureId, usage_reset_period: reset }: ResetOfMeter): Refusal {
  const reason = `feature ${featureId} has the same meter and this reset period here`;
  return invalid({ usage_reset_period: `must be ${reset ?? 'absent'}, because ${reason}` });
}

/**
 * One meter has one kind of reset window: entitlements to several features of it share their limit
 * (docs/domain.md 10.2). Compares those of a request with what is stored, in one statement, and
 * with the ones before them in the request.
 * @returns for each window in turn why it is refused, or null.
 */
export async function resetRefusals(
  { tx }: Unit,
  windows: readonly ResetWindow[],
): Promise<readonly (Refusal | null)[]> {
  const metered = windows.filter(({ feature }) => feature.meter_id !== null);
  const stored = await findOtherResetsOfMeters(
    tx,
    metered.map(({ feature, owner, reset }) => ({
      featureId: feature.id,
      entityId: owner.id,
      reset,
    })),
  );
  return windows.map((own, index) => {
    const known = stored.get(metered.indexOf(own));
    if (known !== undefined) return refusalOf(known);
    const other = windows.slice(0, index).find((one) => differInReset(own, one));
    if (other === undefined) return null;
    return refusalOf({ feature_id: other.feature.id, usage_reset_period: other.reset });
  });
}

/** As `resetRefusals`, for an entitlement that is stored and gets another reset period. */
export async function changedResetRefusal(
  unit: Unit,
  feature: FeatureRow,
  { entity_type: type, entity_id: id, usage_reset_period: reset }: EntitlementRow,
): Promise<Refusal | null> {
  const owner = await lockOwner(unit, { id, type });
  // Entitlements of an owner that is archived meet nothing any more.
  if (isRefusal(owner)) return null;
  const [refusal] = await resetRefusals(unit, [{ feature, owner, reset }]);
  return refusal ?? null;
}
