import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { updateRecord } from '../../records/change-record.js';
import type { Unit } from '../../records/unit.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';

/** Says of a locked subscription that a pause is to come, or that none is any more. */
export async function notePause(
  unit: Unit,
  row: SubscriptionRow,
  pauseId: string | null,
): Promise<SubscriptionRow> {
  const status = pauseId === null ? ('none' as const) : ('scheduled' as const);
  const patch = { pause_status: status, active_pause_id: pauseId };
  const noted = await updateRecord(unit, SUBSCRIPTIONS, { row, patch });
  const subscription = await withChildren(unit, noted);
  await announceUpdated(unit, subscription);
  return subscription;
}
