import { z } from 'zod';
import { parseInstant, type InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { SCHEDULES, type ScheduleRow } from '../../declarations/subscriptions/schedule.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import { SCHEDULE } from '../../domain/lifecycle/subscription-lifecycle.js';
import { reopenLastRow } from '../../domain/periods/ledger-rows.js';
import { lastRecorded } from '../../domain/periods/period-ledger.js';
import { updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { notFound, Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { moveFirstAllowances } from '../../entitlements/entitlements-store.js';
import { moveAddonEnds } from '../../subscriptions/addon-associations-store.js';
import { loadBilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { replaceLastPeriod } from '../../subscriptions/periods/periods-store.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import { markCancelled } from '../../subscriptions/schedules-store.js';
import { chargeReopened } from './charge-reopened.js';

/** What a subscription said before its end was scheduled. */
const previousEnd = z.object({
  end_date: z.string().nullable(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

/** The running period of a subscription goes on to where it would have ended. */
async function reopenPeriod(unit: Unit, row: SubscriptionRow, endDate: InstantMs | null) {
  const loaded = await loadBilledSubscription(unit, row.id);
  const cut = lastRecorded(loaded.terms);
  if (cut.kind !== 'last' && cut.kind !== 'trial') return row.current_period_end;
  const endMs = Math.min(row.trial_end ?? Infinity, endDate ?? Infinity);
  const period =
    cut.kind === 'trial'
      ? { ...cut, endMs }
      : lastRecorded(reopenLastRow({ ...loaded.terms, endMs: endDate }));
  await replaceLastPeriod(unit, { subscriptionId: row.id, period });
  return period.endMs;
}

/** A subscription whose end was scheduled goes on as before (docs/domain.md 24.4). */
async function restore(
  unit: Unit,
  row: SubscriptionRow,
  schedule: ScheduleRow,
): Promise<SubscriptionRow> {
  if (schedule.schedule_type !== 'cancellation') return row;
  const previous = previousEnd.parse(schedule.previous);
  const endDate =
    previous.end_date === null
      ? null
      : assertPresent(parseInstant(previous.end_date), 'the end of a subscription');
  const end = await reopenPeriod(unit, row, endDate);
  const patch = {
    cancel_at: null,
    cancel_at_period_end: false,
    end_date: endDate,
    current_period_end: end,
    metadata: previous.metadata,
  };
  const restored = await updateRecord(unit, SUBSCRIPTIONS, { row, patch });
  const handOver = { fromMs: row.current_period_end, toMs: end };
  await moveFirstAllowances(unit, row.id, { sinceMs: row.current_period_start, toMs: end });
  await moveAddonEnds(unit, row.id, handOver);
  if (row.cancel_at !== null) await chargeReopened(unit, row.id, row.cancel_at);
  return withChildren(unit, restored);
}

async function cancel(unit: Unit, { id }: ChangeTarget): Promise<ScheduleRow> {
  const found = await readRecord(unit, SCHEDULES, id);
  // The subscription first, as whoever executes the schedule locks them.
  const row = await lockRecord(unit, SUBSCRIPTIONS, found.subscription_id);
  const schedule = await lockRecord(unit, SCHEDULES, id);
  if (row === null || schedule === null) throw new Refused(notFound(SCHEDULES.name, id));
  const problem = problemOfMove(SCHEDULE, 'cancel', schedule.schedule_status);
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
  const restored = await restore(unit, row, schedule);
  await announceUpdated(unit, restored);
  return markCancelled(unit, id);
}

/** POST /subscriptions/schedules/{id}/cancel: what was to come does not, as if never asked for. */
export function cancelSchedule(
  dependencies: WriteDependencies,
  occasion: Occasion,
  target: ChangeTarget,
): Promise<ScheduleRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) => cancel(unit, target));
}
