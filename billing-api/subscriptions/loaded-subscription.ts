import type { Caller } from '../records/caller.js';
import { notFound, type Refusal } from '../records/refusal.js';
import { readUnit, type ReadDependencies, type ReadUnit } from '../records/unit.js';
import { findRelatedRecords, type RelatedRecords } from './related-records.js';
import type { SubscriptionRow } from './subscription.resource.js';
import { findSubscription } from './subscriptions-store.js';

/** A subscription with everything that belongs to it. */
export type LoadedSubscription = {
  readonly subscription: SubscriptionRow;
  readonly related: RelatedRecords;
};

/** The subscription with everything that belongs to it, whatever its status. */
export async function loadSubscription(
  { tx }: ReadUnit,
  id: string,
): Promise<LoadedSubscription | Refusal> {
  const subscription = await findSubscription(tx, id);
  if (subscription === null) return notFound('subscription', id);
  return { subscription, related: await findRelatedRecords(tx, [subscription]) };
}

/** As `loadSubscription`, in a unit of its own. */
export function readSubscription(
  dependencies: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<LoadedSubscription | Refusal> {
  return readUnit(dependencies, caller.environment, (unit) => loadSubscription(unit, id));
}
