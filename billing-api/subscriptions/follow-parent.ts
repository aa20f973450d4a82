import { assertPresent, mustGet } from '../../runtime/failure.js';
import { groupBy } from '../../runtime/group-by.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { moveToFollow } from '../domain/lifecycle/follow-parent.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import { moveRecords, updateRecords } from '../records/change-records.js';
import type { Unit } from '../records/unit.js';
import { lockChildren } from './children-store.js';
import { toldOfSubscription } from './subscription-events.js';

/** What an inherited child has of its parent: plan, period and status. */
function mirroredOf(parent: SubscriptionRow, child: Pick<SubscriptionRow, 'start_date'>) {
  const { end_date: end } = parent;
  return {
    plan_id: parent.plan_id,
    billing_anchor: parent.billing_anchor,
    current_period_start: parent.current_period_start,
    current_period_end: parent.current_period_end,
    // One that came after its parent had ended, looked at backwards, has lasted a moment.
    end_date: end === null ? null : Math.max(end, child.start_date + 1),
    cancel_at: parent.cancel_at,
    cancel_at_period_end: parent.cancel_at_period_end,
    cancelled_at: parent.cancelled_at,
    trial_start: parent.trial_start,
    trial_end: parent.trial_end,
    pause_status: parent.pause_status,
    active_pause_id: parent.active_pause_id,
  };
}

type Following = {
  readonly row: SubscriptionRow;
  readonly parent: SubscriptionRow;
  readonly patch: ReturnType<typeof mirroredOf>;
};

async function follow(unit: Unit, all: readonly Following[]): Promise<void> {
  const byMove = groupBy(all, ({ row, parent }) =>
    moveToFollow(row.subscription_status, parent.subscription_status),
  );
  for (const [move, changes] of byMove) {
    const [first] = changes;
    if (move === null || first === undefined) {
      await updateRecords(unit, SUBSCRIPTIONS, changes);
      continue;
    }
    await moveRecords(unit, SUBSCRIPTIONS, {
      lifecycle: SUBSCRIPTION,
      move,
      to: first.parent.subscription_status,
      changes,
      told: (after) => toldOfSubscription(unit, after),
    });
  }
}

/**
 * Moves the inherited children of subscriptions to where these are now (docs/domain.md 29.1): in
 * the unit that has changed them, each with the audit entry and the event of its move.
 */
export async function followParents(
  unit: Unit,
  changed: readonly SubscriptionRow[],
): Promise<void> {
  const parents = new Map(
    changed.filter((row) => row.subscription_type === 'parent').map((row) => [row.id, row]),
  );
  if (parents.size === 0) return;
  const children = await lockChildren(unit, [...parents.keys()], 'inherited');
  return follow(
    unit,
    children.map((row) => {
      const id = assertPresent(row.parent_subscription_id, 'the parent of a child');
      const parent = mustGet(parents, id, 'the parent of a child');
      return { row, parent, patch: mirroredOf(parent, row) };
    }),
  );
}

/** As `followParents`, of one subscription that was changed. */
export async function withChildren<Row extends SubscriptionRow>(
  unit: Unit,
  changed: Row,
): Promise<Row> {
  await followParents(unit, [changed]);
  return changed;
}
