import { PAUSES, type PauseRow } from '../../declarations/subscriptions/pause.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { PAUSE, SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { moveRecord } from '../../records/move-record.js';
import type { Unit } from '../../records/unit.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';

/** A subscription with its pause that is to come or under way. */
export type PausedSubscription = {
  readonly subscription: SubscriptionRow;
  readonly pause: PauseRow;
};

/** Where a pause ends by itself: at its own end, or with its subscription; null if nowhere. */
export function endOfPause(
  { end_date: end, cancel_at: cancelAt }: SubscriptionRow,
  pauseEnd: number | null,
): number | null {
  const ends = [end, cancelAt, pauseEnd].filter((at) => at !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** A subscription goes into its pause, which is active already. */
export async function enterPause(unit: Unit, pause: PauseRow): Promise<PausedSubscription> {
  const paused = await moveRecord(unit, SUBSCRIPTIONS, {
    target: { id: pause.subscription_id },
    lifecycle: SUBSCRIPTION,
    move: 'pause',
    to: 'paused',
    patch: () => ({ pause_status: 'active' as const, active_pause_id: pause.id }),
    told: (after) => toldOfSubscription(unit, after),
  });
  const subscription = await withChildren(unit, paused);
  return { subscription, pause };
}

/** A pause that was to come begins, and its subscription goes into it. */
export async function beginPause(
  unit: Unit,
  { subscription, pause }: PausedSubscription,
): Promise<PausedSubscription> {
  const begun = await moveRecord(unit, PAUSES, {
    target: { id: pause.id },
    lifecycle: PAUSE,
    move: 'begin',
    to: 'active',
    patch: () => ({
      original_period_start: subscription.current_period_start,
      original_period_end: subscription.current_period_end,
      ends_at: endOfPause(subscription, pause.pause_end),
    }),
  });
  return enterPause(unit, begun);
}
