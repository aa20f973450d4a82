import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { updateRecord } from '../../records/change-record.js';
import { lockRecord, lockRecordsForChange } from '../../records/find-record.js';
import { accept, notFound, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { markBilledWith } from '../../subscriptions/periods/periods-store.js';
import { alignmentRefusal, joinGroup } from '../groups/group.js';
import { markParent } from '../groups/inherit.js';
import { beginPeriods, begunOf } from '../renew/renew-subscriptions.js';
import type { PlanChange } from './read-change.js';

/** Locks all subscriptions of a group, in the order in which a renewal locks them. */
export async function lockGroup(unit: Unit, { group }: PlanChange): Promise<void> {
  if (group === null) return;
  await lockRecordsForChange(unit, SUBSCRIPTIONS, [group.parentId, ...group.childIds]);
}

/** @throws Refused where the periods of a new subscription do not end with those of another one. */
async function refuseParted(unit: Unit, other: BilledSubscription, id: string): Promise<void> {
  const loaded = await loadBilledSubscription(unit, id);
  const { subscription, terms } = loaded;
  accept(alignmentRefusal(other, { subscription, terms: { ...terms, isGrouped: true } }));
}

/** The subscription that takes the place of a grouped child is billed with the group. */
async function takePlaceInGroup(
  unit: Unit,
  parentId: string,
  row: SubscriptionRow,
): Promise<SubscriptionRow> {
  const parent = await lockRecord(unit, SUBSCRIPTIONS, parentId);
  if (parent === null) throw new Refused(notFound(SUBSCRIPTIONS.name, parentId));
  const loaded = await loadBilledSubscription(unit, parentId);
  await refuseParted(unit, loaded, row.id);
  return joinGroup(unit, parent, row);
}

/** Moves a locked child to another parent, which bills its running period unless that has ended. */
async function moveChild(
  unit: Unit,
  child: SubscriptionRow,
  { parentId, isEnded }: { readonly parentId: string; readonly isEnded: boolean },
): Promise<SubscriptionRow> {
  if (!isEnded) await markBilledWith(unit, child.id, parentId);
  const patch = { parent_subscription_id: parentId };
  return updateRecord(unit, SUBSCRIPTIONS, { row: child, patch });
}

/** Begins the next period of a child whose running one has ended with that of its old parent. */
async function renewChild(unit: Unit, row: SubscriptionRow): Promise<void> {
  const loaded = await loadBilledSubscription(unit, row.id);
  await beginPeriods(unit, [begunOf(loaded, { subscription: row })]);
}

/**
 * The locked grouped children of a subscription are billed with the one that takes its place: from
 * their running periods on, or, at the end of these, from the next ones on, which begin here.
 */
async function takeGroupAlong(
  unit: Unit,
  after: SubscriptionRow,
  {
    children,
    change,
  }: { readonly children: readonly SubscriptionRow[]; readonly change: PlanChange },
): Promise<SubscriptionRow> {
  if (children.length === 0) return after;
  await refuseParted(unit, change.loaded, after.id);
  for (const child of children) {
    // The running period of a paused one has no end yet.
    const isEnded =
      change.isAtPeriodEnd &&
      child.current_period_end === change.atMs &&
      isIn(SUBSCRIPTION, 'running', child.subscription_status);
    const moved = await moveChild(unit, child, { parentId: after.id, isEnded });
    if (isEnded) await renewChild(unit, moved);
  }
  return markParent(unit, after);
}

/** The subscription that takes the place of another one takes it in its group, too. */
export function regroup(
  unit: Unit,
  after: SubscriptionRow,
  old: { readonly children: readonly SubscriptionRow[]; readonly change: PlanChange },
): Promise<SubscriptionRow> {
  const { group } = old.change;
  return group?.isChild === true
    ? takePlaceInGroup(unit, group.parentId, after)
    : takeGroupAlong(unit, after, old);
}
