import { lockPlans } from '../catalog/plans/plans-store.js';
import { assertPresent } from '../../runtime/failure.js';
import { notFound, type Refusal } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import { lockSubscriptions } from '../subscriptions/subscriptions-store.js';
import type { EntitlementOwner } from './entitlement-request.js';

/** The record that owns an entitlement; `planId` is its own, or that of the subscription. */
export type Owner = {
  readonly entityType: 'PLAN' | 'SUBSCRIPTION';
  readonly id: string;
  readonly planId: string;
  /** Entitlements of a plan do not meet those of a cancelled subscription. */
  readonly isCancelled: boolean;
};

type Found = {
  readonly publishedPlans: ReadonlySet<string>;
  readonly subscriptions: Awaited<ReturnType<typeof lockSubscriptions>>;
};

function ownerFound({ id, type }: EntitlementOwner, found: Found): Owner | Refusal {
  if (type === 'ADDON') return notFound('addon', id);
  if (type !== 'SUBSCRIPTION') {
    if (found.publishedPlans.has(id)) {
      return { entityType: 'PLAN', id, planId: id, isCancelled: false };
    }
    if (type === 'PLAN') return notFound('plan', id);
  }
  const subscription = found.subscriptions.get(id);
  if (subscription === undefined) {
    return notFound(type === null ? 'plan or subscription' : 'subscription', id);
  }
  const isCancelled = subscription.subscription_status === 'cancelled';
  return { entityType: 'SUBSCRIPTION', id, planId: subscription.plan_id, isCancelled };
}

/**
 * Finds the owners of a request and keeps others from giving them entitlements until the
 * transaction ends, so that two of them cannot meet unseen. Subscriptions come first, in the order
 * of their ids, then all plans, those of the subscriptions too, in the order of theirs: requests
 * wait for each other and never deadlock.
 * @returns by `keyOf` the owner.
 */
export async function lockOwners(
  { tx }: Unit,
  owners: readonly EntitlementOwner[],
): Promise<ReadonlyMap<string, Owner | Refusal>> {
  const idsOf = (kind: 'PLAN' | 'SUBSCRIPTION'): readonly string[] =>
    owners.flatMap(({ id, type }) => (type === null || type === kind ? [id] : []));
  const subscriptions = await lockSubscriptions(tx, idsOf('SUBSCRIPTION'));
  const ofSubscriptions = [...subscriptions.values()].map((one) => one.plan_id);
  const plans = await lockPlans(tx, { changed: idsOf('PLAN'), held: ofSubscriptions });
  const published = [...plans.values()].filter(({ status }) => status === 'published');
  const found = { publishedPlans: new Set(published.map(({ id }) => id)), subscriptions };
  return new Map(owners.map((owner) => [keyOf(owner), ownerFound(owner, found)]));
}

/** As `lockOwners`, for one. */
export async function lockOwner(unit: Unit, owner: EntitlementOwner): Promise<Owner | Refusal> {
  const owners = await lockOwners(unit, [owner]);
  return assertPresent(owners.get(keyOf(owner)), 'the owner of an entitlement');
}

/** What tells owners of a request apart: one id may be named with a type and without. */
export const keyOf = ({ id, type }: EntitlementOwner): string => `${id} ${type ?? ''}`;
