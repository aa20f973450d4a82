import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { moveRecord } from '../../records/move-record.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { closeSchedule } from '../../subscriptions/schedules-store.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';

/** Grouped children whose last period has ended inside a period of their parent, locked. */
function lockEnded({ tx, now }: Unit, limit: number): Promise<readonly SubscriptionRow[]> {
  return tx.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT child.* FROM subscriptions AS child
    JOIN subscriptions AS parent ON parent.id = child.parent_subscription_id
      AND ${rowIsOfEnvironment('parent')}
    WHERE child.subscription_type = 'grouped_invoicing' AND child.status = 'published'
      AND ${rowIsIn(['child', 'subscription_status'], SUBSCRIPTION, 'running')}
      AND child.current_period_end <= ${formatInstant(now)}::timestamptz
      AND child.current_period_end = least(child.end_date, child.cancel_at)
      AND parent.current_period_end > child.current_period_end AND ${rowIsOfEnvironment('child')}
    ORDER BY child.current_period_end, child.id LIMIT ${limit}
    FOR NO KEY UPDATE OF child SKIP LOCKED`);
}

/**
 * Cancels grouped children that end inside a period of their parent, whose invoice bills them later
 * (docs/domain.md 29.2).
 */
export async function endGroupedChildren(unit: Unit, limit: number): Promise<number | Refusal> {
  const rows = await lockEnded(unit, limit);
  for (const { id, cancel_at: cancelAt, current_period_end: end } of rows) {
    const closed = cancelAt === null ? null : await closeSchedule(unit, id, 'cancellation');
    if (closed !== null) return closed;
    const cancelled = await moveRecord(unit, SUBSCRIPTIONS, {
      ...{ target: { id }, lifecycle: SUBSCRIPTION, move: 'cancel', to: 'cancelled' },
      patch: () => ({ cancelled_at: end }),
      told: (after) => toldOfSubscription(unit, after),
    });
    if (isRefusal(cancelled)) return cancelled;
  }
  return rows.length;
}
