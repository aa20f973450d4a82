import { sql } from 'slonik';
import { z } from 'zod';
import { instantColumn } from '../../sql/columns.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { SCHEDULES, type ScheduleRow } from '../declarations/subscriptions/schedule.resource.js';
import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';
import { SCHEDULE } from '../domain/lifecycle/subscription-lifecycle.js';
import { isOfEnvironment } from '../records/conditions.js';
import { moveRecord } from '../records/move-record.js';
import { Refusal, Refused } from '../records/refusal.js';
import type { StatementUnit, Unit } from '../records/unit.js';

/** The change of a subscription that is to come; null when there is none. */
export function findPending(
  { tx }: StatementUnit,
  subscriptionId: string,
): Promise<ScheduleRow | null> {
  return tx.maybeOne(sql.type(SCHEDULES.row)`
    SELECT * FROM subscription_schedules
    WHERE subscription_id = ${subscriptionId} AND schedule_status = 'pending' AND ${isOfEnvironment}`);
}

/** Refuses a change of a subscription while another one is to come. */
export function refuseBefore(
  pending: ScheduleRow | null,
  /** The schedule that asks for the change itself. */
  ownId: string | null = null,
): void {
  if (pending === null || pending.id === ownId) return;
  const waiting = `the change ${pending.id} is to come; cancel it first`;
  throw new Refused(new Refusal('invalid_operation', waiting));
}

/** As `refuseBefore`, of the change that is to come of a subscription. */
export async function refusePending(unit: StatementUnit, subscriptionId: string): Promise<void> {
  refuseBefore(await findPending(unit, subscriptionId));
}

/** Notes that a schedule was done. */
export async function markExecuted(unit: Unit, id: string): Promise<void> {
  await moveRecord(unit, SCHEDULES, {
    target: { id },
    lifecycle: SCHEDULE,
    move: 'execute',
    to: 'executing',
  });
  await moveRecord(unit, SCHEDULES, {
    target: { id },
    lifecycle: SCHEDULE,
    move: 'succeed',
    to: 'executed',
    patch: () => ({ executed_at: unit.now, error: null }),
  });
}

const triedRow = z.object({ attempts: z.number().int(), first_attempt_at: instantColumn });

/**
 * Notes on a pending schedule what stood in its way this time.
 * @returns how often it was tried, and since when; null when it is not pending any more.
 */
export async function noteAttempt(
  { tx, now }: Unit,
  id: string,
  problem: string,
): Promise<z.output<typeof triedRow> | null> {
  return tx.maybeOne(sql.type(triedRow)`
    UPDATE subscription_schedules SET attempts = attempts + 1, error = ${problem.slice(0, 1000)},
      first_attempt_at = coalesce(first_attempt_at, ${formatInstant(now)}::timestamptz)
    WHERE id = ${id} AND schedule_status = 'pending' AND ${isOfEnvironment}
    RETURNING attempts, first_attempt_at`);
}

/** Notes why a schedule could not be done. */
export async function markFailed(unit: Unit, id: string, error: string): Promise<void> {
  await moveRecord(unit, SCHEDULES, {
    target: { id },
    lifecycle: SCHEDULE,
    move: 'execute',
    to: 'executing',
  });
  await moveRecord(unit, SCHEDULES, {
    target: { id },
    lifecycle: SCHEDULE,
    move: 'fail',
    to: 'failed',
    patch: () => ({ executed_at: unit.now, error: error.slice(0, 1000) }),
  });
}

/** Notes that a schedule is never done. */
export function markCancelled(unit: Unit, id: string): Promise<ScheduleRow> {
  return moveRecord(unit, SCHEDULES, {
    target: { id },
    lifecycle: SCHEDULE,
    move: 'cancel',
    to: 'cancelled',
    patch: () => ({ cancelled_at: unit.now }),
  });
}

/** What becomes of the schedule of a subscription that has ended: it was that, or has no use. */
export async function closeSchedule(
  unit: Unit,
  pending: ScheduleRow | null,
  endedAs: ScheduleRow['schedule_type'] | null,
): Promise<void> {
  if (pending === null) return;
  if (pending.schedule_type === endedAs) return markExecuted(unit, pending.id);
  await markCancelled(unit, pending.id);
}

/** Where a change is to be made that waits for the end of the period, when that has moved. */
export async function moveSchedule(
  { tx }: Unit,
  subscriptionId: string,
  atMs: InstantMs,
): Promise<void> {
  await tx.query(sql.type(SCHEDULES.row)`
    UPDATE subscription_schedules SET scheduled_at = to_timestamp(${atMs / 1000})
    WHERE subscription_id = ${subscriptionId} AND schedule_status = 'pending'
      AND schedule_type = 'plan_change' AND ${isOfEnvironment}`);
}

/** What is kept of a subscription whose end is scheduled, so that it can be restored. */
export function previousOf({ end_date: end, metadata }: SubscriptionRow) {
  return { end_date: end === null ? null : formatInstant(end), metadata: { ...metadata } };
}
