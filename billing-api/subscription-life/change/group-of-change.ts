import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { anchorAfter } from '../../domain/periods/ledger-rows.js';
import { invalid, type Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { findGroupedIds } from '../../subscriptions/children-store.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { Owners } from '../open/opening-terms.js';
import type { ChangeSubscriptionBody } from './change-dto.js';

/** A group in which a subscription is a child (then the parent is another one) or the parent. */
export type Group = {
  readonly parentId: string;
  readonly childIds: readonly string[];
  readonly isChild: boolean;
};

/** The group of a subscription; null for one that is billed alone. */
export async function findGroup(unit: ReadUnit, row: SubscriptionRow): Promise<Group | null> {
  const { id, subscription_type: type, parent_subscription_id: parentId } = row;
  if (type === 'grouped_invoicing') {
    const of = assertPresent(parentId, 'the parent of a grouped child');
    return { parentId: of, childIds: [id], isChild: true };
  }
  const childIds = type === 'parent' ? await findGroupedIds(unit, id) : [];
  return childIds.length === 0 ? null : { parentId: id, childIds, isChild: false };
}

/** What a group asks of a change: that its periods go on to end together (docs/domain.md 25.8). */
export function groupRefusal(
  { subscription: row }: BilledSubscription,
  body: ChangeSubscriptionBody,
): Refusal | null {
  const isSame =
    body.billing_period === row.billing_period &&
    body.billing_period_count === row.billing_period_count;
  if (isSame) return null;
  const own = `${row.billing_period} × ${row.billing_period_count}`;
  const problem = `must be ${own}, that of the group in which the subscription is billed; take it out of the group first`;
  return invalid({ billing_period: problem });
}

/** What anchors the subscription that takes the place of another one; null for its start. */
export function anchorInGroup(
  group: Group | null,
  { terms }: BilledSubscription,
  body: ChangeSubscriptionBody,
): InstantMs | null {
  const keepsAnchor = group !== null && body.billing_cycle === 'anniversary';
  return keepsAnchor ? anchorAfter(terms).atMs : null;
}

/** Who has and who pays for the subscription that takes the place of another one. */
export function ownersAfter(
  group: Group | null,
  { subscription: row, related }: BilledSubscription,
): Pick<Owners, 'customer' | 'payer'> {
  const customerOf = (id: string) => mustGet(related.customers, id, 'a customer');
  // A child is paid by whoever pays for the group, once it has joined that.
  const payerId = group?.isChild === true ? null : row.invoicing_customer_id;
  const payer = payerId === null ? null : customerOf(payerId);
  return { customer: customerOf(row.customer_id), payer };
}
