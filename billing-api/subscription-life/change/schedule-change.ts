import { SCHEDULES, type ScheduleRow } from '../../declarations/subscriptions/schedule.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { lockForChange, type ChangeTarget } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit } from '../../records/unit.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import type { ChangeSubscriptionBody } from './change-dto.js';
import type { ChangedPlan } from './carry-out-change.js';
import { previewChange } from './change-subscription.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { refusePending } from '../../subscriptions/schedules-store.js';

/** A change of plan that is to come, with what it will do as far as that is known. */
export type ScheduledChange = {
  readonly schedule: ScheduleRow;
  readonly subscription: SubscriptionRow;
  readonly changed: ChangedPlan;
};

type Asked = { readonly target: ChangeTarget; readonly body: ChangeSubscriptionBody };

async function store(
  unit: Unit,
  { target, body }: Asked,
  changed: ChangedPlan,
): Promise<ScheduledChange> {
  const subscription = await lockForChange(unit, SUBSCRIPTIONS, target);
  const { version, current_period_end: atMs, id } = subscription;
  if (version !== changed.change.loaded.subscription.version) {
    throw new Refused(
      new Refusal('version_conflict', 'the subscription was changed meanwhile; try again'),
    );
  }
  await refusePending(unit, id);
  const schedule = await createRecord(unit, SCHEDULES, {
    subscription_id: id,
    schedule_type: 'plan_change',
    schedule_status: 'pending',
    scheduled_at: atMs,
    executed_at: null,
    cancelled_at: null,
    error: null,
    configuration: { ...body },
    previous: {},
  });
  await announceUpdated(unit, subscription);
  return { schedule, subscription, changed };
}

/**
 * POST /subscriptions/{id}/change/execute with end_of_period: notes the change, which is tried
 * first as of the end of the running period, so that what cannot be done is refused now
 * (docs/domain.md 25.5).
 */
export async function scheduleChange(
  dependencies: BillingDependencies,
  occasion: Occasion,
  asked: Asked,
): Promise<ScheduledChange | Refusal> {
  const changed = await previewChange(dependencies, occasion, asked);
  if (isRefusal(changed)) return changed;
  return writeUnit(dependencies, occasion, (unit) => store(unit, asked, changed));
}
