import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { DependencyError, messageOf } from '../../../runtime/failure.js';
import { instantColumn } from '../../../sql/columns.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal } from '../../records/refusal.js';
import { readUnit, writeUnit, type ReadUnit } from '../../records/unit.js';
import { waitsForNoMeter } from '../finalize/awaited-meters.js';
import { executeScheduledChange } from '../change/change-subscription.js';
import type { ChangeSubscriptionBody } from '../change/change-dto.js';
import type { BillingDependencies } from '../stored/compute-tasks.js';
import { markFailed } from '../../subscriptions/schedules-store.js';

const dueRow = z.object({
  id: z.string(),
  subscription_id: z.string(),
  configuration: z.record(z.string(), z.unknown()),
  at: instantColumn,
});
type DueChange = z.output<typeof dueRow>;

const OF_CHANGE = {
  owner: 'subscription',
  subscriptionId: sql.fragment`subscription.id`,
  from: sql.fragment`subscription.current_period_start`,
  until: sql.fragment`subscription.current_period_end`,
};

/**
 * Changes of plan whose period has ended, earliest first. One whose final invoice would wait for a
 * meter waits with it; that of a parent waits for those of its grouped children, whose next periods
 * begin with it.
 */
function findDue({ tx, now }: ReadUnit, limit: number): Promise<readonly DueChange[]> {
  return tx.any(sql.type(dueRow)`
    SELECT schedule.id, schedule.subscription_id, schedule.configuration,
      subscription.current_period_end AS at
    FROM subscription_schedules AS schedule
    JOIN subscriptions AS subscription ON subscription.id = schedule.subscription_id
      AND ${rowIsOfEnvironment('subscription')}
    WHERE schedule.schedule_type = 'plan_change' AND schedule.schedule_status = 'pending'
      AND ${rowIsIn(['subscription', 'subscription_status'], SUBSCRIPTION, 'running')}
      AND subscription.current_period_end <= ${formatInstant(now)}::timestamptz
      AND ${waitsForNoMeter(OF_CHANGE)}
      AND ${rowIsOfEnvironment('schedule')}
      AND NOT EXISTS (SELECT FROM subscriptions AS child
        JOIN subscription_schedules AS earlier ON earlier.subscription_id = child.id
          AND earlier.schedule_status = 'pending' AND earlier.schedule_type = 'plan_change'
          AND ${rowIsOfEnvironment('earlier')}
        WHERE child.parent_subscription_id = subscription.id
          AND child.subscription_type = 'grouped_invoicing' AND ${rowIsOfEnvironment('child')}
          AND child.current_period_end <= subscription.current_period_end)
    ORDER BY subscription.current_period_end, schedule.id LIMIT ${limit}`);
}

/** Why a change could not be made; null when it was. */
async function problemOf(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { id, subscription_id: subscriptionId, configuration, at }: DueChange,
): Promise<string | null> {
  // Stored from a request that was checked.
  const body = configuration as unknown as ChangeSubscriptionBody;
  const request = { target: { id: subscriptionId }, body, scheduleId: id, atMs: at };
  try {
    const changed = await executeScheduledChange(dependencies, occasion, request);
    return isRefusal(changed) ? changed.message : null;
  } catch (error) {
    if (error instanceof DependencyError) throw error;
    return messageOf(error);
  }
}

/**
 * Makes the changes of plan that waited for the end of a period. One that cannot be made says why,
 * and its subscription goes on as it is.
 * @returns how many there were. @throws DependencyError when a database fails.
 */
export async function runSchedules(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  limit: number,
): Promise<number> {
  const due = await readUnit(dependencies, occasion, (unit) => findDue(unit, limit));
  for (const change of due) {
    const problem = await problemOf(dependencies, occasion, change);
    if (problem === null) continue;
    await writeUnit(dependencies, occasion, async (unit) => {
      const refusal = await markFailed(unit, change.id, problem);
      return refusal ?? null;
    });
  }
  return due.length;
}
