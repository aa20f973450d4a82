import { sql } from 'slonik';
import { z } from 'zod';
import { HOUR_MS } from '../../../contract/instant.js';
import { DependencyError, messageOf } from '../../../runtime/failure.js';
import { instantColumn } from '../../../sql/columns.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { mustRead, mustWrite, type ReadUnit, type Unit } from '../../records/unit.js';
import { MeterRefusal, waitsForNoMeter } from '../../invoicing/finalize/awaited-meters.js';
import { executeScheduledChange } from '../change/change-subscription.js';
import type { ChangeSubscriptionBody } from '../change/change-dto.js';
import { dueOf } from '../../due/due-items.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { markFailed, noteAttempt } from '../../subscriptions/schedules-store.js';

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
 * Changes of plan whose period has ended, the least tried first. One whose final invoice would wait
 * for a meter waits with it; that of a parent waits for those of its grouped children, whose next
 * periods begin with it.
 */
function findDue(unit: ReadUnit, limit: number): Promise<readonly DueChange[]> {
  return unit.tx.any(sql.type(dueRow)`
    SELECT schedule.id, schedule.subscription_id, schedule.configuration,
      subscription.current_period_end AS at
    FROM subscription_schedules AS schedule
    JOIN (${dueOf(unit, 'renewal')}) AS due ON due.id = schedule.subscription_id
    JOIN subscriptions AS subscription ON subscription.id = schedule.subscription_id
      AND ${rowIsOfEnvironment('subscription')}
    WHERE schedule.schedule_type = 'plan_change' AND schedule.schedule_status = 'pending'
      AND ${waitsForNoMeter(OF_CHANGE)}
      AND ${rowIsOfEnvironment('schedule')}
      AND NOT EXISTS (SELECT FROM subscriptions AS child
        JOIN subscription_schedules AS earlier ON earlier.subscription_id = child.id
          AND earlier.schedule_status = 'pending' AND earlier.schedule_type = 'plan_change'
          AND ${rowIsOfEnvironment('earlier')}
        WHERE child.parent_subscription_id = subscription.id
          AND child.subscription_type = 'grouped_invoicing' AND ${rowIsOfEnvironment('child')}
          AND child.current_period_end <= subscription.current_period_end)
    ORDER BY schedule.attempts, subscription.current_period_end, schedule.id LIMIT ${limit}`);
}

/** Why a change could not be made, and whether it may well be made later. */
type Problem = { readonly reason: string; readonly isPassing: boolean };

/** Refusals that say nothing against the change, but that others were at work meanwhile. */
const PASSING: readonly string[] = ['version_conflict', 'service_unavailable'];

const isPassing = (refusal: Refusal): boolean =>
  PASSING.includes(refusal.code) || refusal instanceof MeterRefusal;

/** Makes a change. @returns why it could not be made; null when it was. */
async function makeChange(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { id, subscription_id: subscriptionId, configuration, at }: DueChange,
): Promise<Problem | null> {
  // Stored from a request that was checked.
  const body = configuration as unknown as ChangeSubscriptionBody;
  const request = { target: { id: subscriptionId }, body, scheduleId: id, atMs: at };
  try {
    const changed = await executeScheduledChange(dependencies, occasion, request);
    if (!isRefusal(changed)) return null;
    return { reason: changed.message, isPassing: isPassing(changed) };
  } catch (error) {
    if (error instanceof DependencyError) throw error;
    return { reason: messageOf(error), isPassing: true };
  }
}

/** A change that something stands in the way of fails after so many tries, over so long a time. */
const TRIES_MIN = 10;
const TRIED_FOR_MS = 4 * HOUR_MS;

/**
 * Notes why a change was not made. What may pass leaves it pending, until it was tried for long.
 * @returns whether it has failed for good.
 */
async function noteProblem(
  unit: Unit,
  { id }: DueChange,
  { reason, isPassing: mayPass }: Problem,
): Promise<boolean> {
  const tried = await noteAttempt(unit, id, reason);
  if (tried === null) return false;
  const { attempts, first_attempt_at: since } = tried;
  if (mayPass && (attempts < TRIES_MIN || unit.now < since + TRIED_FOR_MS)) return false;
  await markFailed(unit, id, reason);
  return true;
}

/**
 * Makes the changes of plan that waited for the end of a period. One that cannot be made says why,
 * and its subscription goes on as it is. One that only something passing stands in the way of is
 * tried again by the next run (docs/domain.md 25.5).
 * @returns how many have come to an end. @throws DependencyError when a database fails.
 */
export async function runSchedules(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  limit: number,
): Promise<number> {
  const due = await mustRead(dependencies, occasion, (unit) => findDue(unit, limit));
  let ended = 0;
  for (const change of due) {
    const problem = await makeChange(dependencies, occasion, change);
    const hasEnded =
      problem === null ||
      (await mustWrite(dependencies, occasion, (unit) => noteProblem(unit, change, problem)));
    if (hasEnded) ended += 1;
  }
  return ended;
}
