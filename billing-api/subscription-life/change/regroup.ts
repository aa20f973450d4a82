import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { updateRecord } from '../../records/change-record.js';
import { lockRecord, lockRecordsForChange } from '../../records/find-record.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
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

/** That the periods of a new subscription end with those of another one; null where they do. */
async function partedRefusal(
  unit: Unit,
  other: BilledSubscription,
  id: string,
): Promise<Refusal | null> {
  const loaded = await loadBilledSubscription(unit, id);
  if (isRefusal(loaded)) return loaded;
  const { subscription, terms } = loaded;
  return alignmentRefusal(other, { subscription, terms: { ...terms, isGrouped: true } });
}

/** The subscription that takes the place of a grouped child is billed with the group. */
async function takePlaceInGroup(
  unit: Unit,
  parentId: string,
  row: SubscriptionRow,
): Promise<SubscriptionRow | Refusal> {
  const parent = await lockRecord(unit, SUBSCRIPTIONS, parentId);
  if (parent === null) return notFound(SUBSCRIPTIONS.name, parentId);
  const loaded = await loadBilledSubscription(unit, parentId);
  if (isRefusal(loaded)) return loaded;
  return (await partedRefusal(unit, loaded, row.id)) ?? joinGroup(unit, parent, row);
}

/** Moves a locked child to another parent, which bills its running period unless that has ended. */
async function moveChild(
  unit: Unit,
  child: SubscriptionRow,
  { parentId, isEnded }: { readonly parentId: string; readonly isEnded: boolean },
): Promise<SubscriptionRow | Refusal> {
  if (!isEnded) await markBilledWith(unit, child.id, parentId);
  const patch = { parent_subscription_id: parentId };
  return updateRecord(unit, SUBSCRIPTIONS, { row: child, patch });
}

/** Begins the next period of a child whose running one has ended with that of its old parent. */
async function renewChild(unit: Unit, row: SubscriptionRow): Promise<Refusal | null> {
  const loaded = await loadBilledSubscription(unit, row.id);
  return isRefusal(loaded) ? loaded : beginPeriods(unit, [begunOf(loaded, { subscription: row })]);
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
): Promise<SubscriptionRow | Refusal> {
  if (children.length === 0) return after;
  const parted = await partedRefusal(unit, change.loaded, after.id);
  if (parted !== null) return parted;
  for (const child of children) {
    // The running period of a paused one has no end yet.
    const isEnded =
      change.isAtPeriodEnd &&
      child.current_period_end === change.atMs &&
      isIn(SUBSCRIPTION, 'running', child.subscription_status);
    const moved = await moveChild(unit, child, { parentId: after.id, isEnded });
    if (isRefusal(moved)) return moved;
    const refusal = isEnded ? await renewChild(unit, moved) : null;
    if (refusal !== null) return refusal;
  }
  return markParent(unit, after);
}

/** The subscription that takes the place of another one takes it in its group, too. */
export function regroup(
  unit: Unit,
  after: SubscriptionRow,
  old: { readonly children: readonly SubscriptionRow[]; readonly change: PlanChange },
): Promise<SubscriptionRow | Refusal> {
  const { group } = old.change;
  return group?.isChild === true
    ? takePlaceInGroup(unit, group.parentId, after)
    : takeGroupAlong(unit, after, old);
}
