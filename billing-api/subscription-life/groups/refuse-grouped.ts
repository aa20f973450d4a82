import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { StatementUnit } from '../../records/unit.js';
import { lockChildren } from '../../subscriptions/children-store.js';

/**
 * That what moves the periods of a subscription does not go with a group, whose periods end
 * together; null for one that is in none (docs/domain.md 29.2).
 */
export async function refuseGrouped(
  unit: StatementUnit,
  { id, subscription_type: type, parent_subscription_id: parentId }: SubscriptionRow,
): Promise<void> {
  const remedy =
    'and their periods end together; name it in grouped_invoicing_params.remove of that one first';
  if (type === 'grouped_invoicing') {
    const problem = `subscription ${id} is billed with ${parentId}, ${remedy}`;
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  return refuseBilling(unit, { id, subscription_type: type });
}

/** As `refuseGrouped`, of the subscription whose invoice bills the others. */
export async function refuseBilling(
  unit: StatementUnit,
  { id, subscription_type: type }: Pick<SubscriptionRow, 'id' | 'subscription_type'>,
): Promise<void> {
  if (type !== 'parent') return;
  const [child] = await lockChildren(unit, [id], 'grouped_invoicing');
  if (child === undefined) return;
  const problem = `subscription ${id} bills ${child.id} with it, and their periods end together; name it in grouped_invoicing_params.remove first`;
  throw new Refused(new Refusal('invalid_operation', problem));
}
