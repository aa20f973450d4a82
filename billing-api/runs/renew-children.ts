import { sql } from 'slonik';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { rowIsOfEnvironment } from '../records/conditions.js';
import { accept } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import { loadBilledSubscription } from '../subscriptions/loaded-subscription.js';
import { lockDue, type DueQuery } from '../due/due-items.js';
import { dueStep, oneByOne } from '../due/due-step.js';
import { beginPeriods, begunOf } from '../subscription-life/renew/renew-subscriptions.js';

/** The job of a single grouped child that could not be renewed with the others. */
export const RENEW_CHILD = 'renew-grouped-child';

/** Grouped children whose running periods have ended inside a period of their parent, locked. */
function lockEnded(unit: Unit, due: DueQuery): Promise<readonly SubscriptionRow[]> {
  const where = sql.fragment`record.subscription_type = 'grouped_invoicing'
    AND EXISTS (SELECT FROM subscriptions AS parent
      WHERE parent.id = record.parent_subscription_id AND ${rowIsOfEnvironment('parent')}
        AND parent.current_period_end > record.current_period_end)
    AND NOT EXISTS (SELECT FROM subscription_schedules AS schedule
      WHERE schedule.subscription_id = record.id AND schedule.schedule_status = 'pending'
        AND schedule.schedule_type = 'plan_change' AND ${rowIsOfEnvironment('schedule')})`;
  return lockDue(unit, SUBSCRIPTIONS, { kind: 'renewal', job: RENEW_CHILD, due, where });
}

async function renew(unit: Unit, subscription: SubscriptionRow): Promise<void> {
  const loaded = await loadBilledSubscription(unit, subscription.id);
  accept(await beginPeriods(unit, [begunOf(loaded, { subscription })]));
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
