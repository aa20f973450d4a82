import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { updateRecord } from '../records/change-record.js';
import type { Unit } from '../records/unit.js';
import { lockChildren } from './children-store.js';
import { markBilledWith } from './periods/periods-store.js';
import { announceUpdated } from './subscription-events.js';

/** A locked grouped child is billed by itself again, from its running period on (29.2). */
export async function releaseChild(unit: Unit, row: SubscriptionRow): Promise<SubscriptionRow> {
  await markBilledWith(unit, row.id, null);
  const patch = {
    ...({ subscription_type: 'standalone', parent_subscription_id: null } as const),
    invoicing_customer_id: null,
  };
  const after = await updateRecord(unit, SUBSCRIPTIONS, { row, patch });
  await announceUpdated(unit, after);
  return after;
}

/** Lets the grouped children of subscriptions that have ended go on by themselves. */
export async function releaseGroups(unit: Unit, ended: readonly SubscriptionRow[]): Promise<void> {
  const ids = ended.filter((row) => row.subscription_type === 'parent').map(({ id }) => id);
  if (ids.length === 0) return;
  for (const child of await lockChildren(unit, ids, 'grouped_invoicing')) {
    await releaseChild(unit, child);
  }
}
