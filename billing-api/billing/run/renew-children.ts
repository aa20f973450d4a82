import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { isWanted, type DueQuery } from '../due/due-items.js';
import { dueStep, oneByOne } from '../due/due-step.js';
import { beginPeriods, begunOf } from './renew-subscriptions.js';

/** The job of a single grouped child that could not be renewed with the others. */
export const RENEW_CHILD = 'renew-grouped-child';

/** Grouped children whose running periods have ended inside a period of their parent, locked. */
function lockEnded({ tx, now }: Unit, due: DueQuery): Promise<readonly SubscriptionRow[]> {
  return tx.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT child.* FROM subscriptions AS child
    JOIN subscriptions AS parent ON parent.id = child.parent_subscription_id
      AND ${rowIsOfEnvironment('parent')}
    WHERE child.subscription_type = 'grouped_invoicing' AND child.status = 'published'
      AND ${rowIsIn(['child', 'subscription_status'], SUBSCRIPTION, 'running')}
      AND child.current_period_end <= ${formatInstant(now)}::timestamptz
      AND parent.current_period_end > child.current_period_end AND ${rowIsOfEnvironment('child')}
      AND NOT EXISTS (SELECT FROM subscription_schedules AS schedule
        WHERE schedule.subscription_id = child.id AND schedule.schedule_status = 'pending'
          AND schedule.schedule_type = 'plan_change' AND ${rowIsOfEnvironment('schedule')})
      AND ${isWanted(RENEW_CHILD, sql.fragment`child.id`, due)}
    ORDER BY child.current_period_end, child.id LIMIT ${due.limit}
    FOR NO KEY UPDATE OF child SKIP LOCKED`);
}

async function renew(unit: Unit, subscription: SubscriptionRow): Promise<Refusal | null> {
  const loaded = await loadBilledSubscription(unit, subscription.id);
  if (isRefusal(loaded)) return loaded;
  return beginPeriods(unit, [begunOf(loaded, { subscription })]);
}

/**
 * Begins the next periods of grouped children whose pauses have moved the end of one into a period
 * of their parent, and cancels those that end there. The invoice of the parent bills them later
 * (docs/domain.md 29.2).
 */
export const CHILDREN_DUE = dueStep({
  job: RENEW_CHILD,
  find: lockEnded,
  idOf: ({ id }) => id,
  settle: oneByOne(renew),
});
