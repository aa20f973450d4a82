import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';
import { Refusal } from '../records/refusal.js';

/** That an inherited subscription has all of its parent; null for every other one (29.1). */
export function refuseInherited(
  {
    subscription_type: type,
    parent_subscription_id: parentId,
  }: Pick<SubscriptionRow, 'subscription_type' | 'parent_subscription_id'>,
  problem: string,
): Refusal | null {
  if (type !== 'inherited') return null;
  const remedy = `send this to its parent ${parentId}, or first name its customer in inheritance_params.remove there`;
  return new Refusal('invalid_operation', `an inherited subscription ${problem}; ${remedy}`);
}
