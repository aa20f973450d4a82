import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import { lockRecord } from '../records/find-record.js';
import { moveRecord } from '../records/move-record.js';
import { notFound, Refused } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import { withChildren } from './follow-parent.js';
import { awaitRenewal } from './periods/periods-store.js';
import { toldOfSubscription } from './subscription-events.js';

/**
 * Makes a subscription active that was waiting for its first payment (docs/domain.md 5.1), and
 * leaves one in any other state as it is. What fell due meanwhile is done by the next run of its
 * environment.
 */
export async function activateIncomplete(unit: Unit, id: string): Promise<SubscriptionRow> {
  const row = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (row === null) throw new Refused(notFound(SUBSCRIPTIONS.name, id));
  if (row.subscription_status !== 'incomplete') return row;
  const active = await moveRecord(unit, SUBSCRIPTIONS, {
    target: { id },
    lifecycle: SUBSCRIPTION,
    move: 'activate',
    to: 'active',
    told: (after) => toldOfSubscription(unit, after),
  });
  await awaitRenewal(unit, id);
  return withChildren(unit, active);
}
