import type { FeatureRow } from '../catalog/features/feature.resource.js';
import { holdPublishedPlan, lockPublishedPlans } from '../catalog/plans/plans-store.js';
import { invalid, notFound, type Refusal } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import { lockSubscription } from '../subscriptions/subscriptions-store.js';
import type { EntitlementOwner } from './entitlement-request.js';
import type { EntitlementReset } from './entitlement.resource.js';
import { findResetsOfMeter } from './entitlements-store.js';

/** The record that owns an entitlement; `planId` is its own, or that of the subscription. */
export type Owner = {
  readonly entityType: 'PLAN' | 'SUBSCRIPTION';
  readonly id: string;
  readonly planId: string;
};

/**
 * Finds the owner and keeps others from giving it entitlements until the transaction ends, so that
 * two of them cannot meet unseen.
 */
export async function lockOwner(
  unit: Unit,
  { id, type }: EntitlementOwner,
): Promise<Owner | Refusal> {
  if (type === 'ADDON') return notFound('addon', id);
  if (type !== 'SUBSCRIPTION') {
    const plan = (await lockPublishedPlans(unit.tx, [id])).get(id);
    if (plan !== undefined) return { entityType: 'PLAN', id, planId: id };
    if (type === 'PLAN') return notFound('plan', id);
  }
  const subscription = await lockSubscription(unit.tx, id);
  if (subscription === null) {
    return notFound(type === null ? 'plan or subscription' : 'subscription', id);
  }
  await holdPublishedPlan(unit.tx, subscription.plan_id);
  return { entityType: 'SUBSCRIPTION', id, planId: subscription.plan_id };
}

/** Locks the owners of a request once each, in the order of their ids: requests cannot deadlock. */
export async function lockOwners(
  unit: Unit,
  owners: readonly EntitlementOwner[],
): Promise<ReadonlyMap<string, Owner | Refusal>> {
  const byKey = new Map(owners.map((owner) => [keyOf(owner), owner] as const));
  const locked = new Map<string, Owner | Refusal>();
  for (const [key, owner] of [...byKey].sort(([left], [right]) => (left < right ? -1 : 1))) {
    locked.set(key, await lockOwner(unit, owner));
  }
  return locked;
}

/** What tells owners of a request apart: one id may be named with a type and without. */
export const keyOf = ({ id, type }: EntitlementOwner): string => `${id} ${type ?? ''}`;

/**
 * One meter has one kind of reset window: entitlements to several features of it share their limit
 * (docs/domain.md 10.2).
 */
export async function resetRefusal(
  unit: Unit,
  entitlement: {
    readonly feature: FeatureRow;
    readonly entityId: string;
    readonly reset: EntitlementReset;
  },
): Promise<Refusal | null> {
  const { feature, entityId, reset } = entitlement;
  if (feature.meter_id === null) return null;
  const met = await findResetsOfMeter(unit.tx, { featureId: feature.id, entityId });
  const other = met.find((one) => one.usage_reset_period !== reset);
  if (other === undefined) return null;
  const period = other.usage_reset_period ?? 'absent';
  const reason = `feature ${other.feature_id} has the same meter and this reset period here`;
  return invalid({ usage_reset_period: `must be ${period}, because ${reason}` });
}
