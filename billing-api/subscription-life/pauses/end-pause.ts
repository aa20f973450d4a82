import type { InstantMs } from '../../../contract/instant.js';
import { PAUSES, type ResumeMode } from '../../declarations/subscriptions/pause.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { PAUSE, SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { anchorAfter } from '../../domain/periods/ledger-rows.js';
import { lastRecorded, type PeriodLedger } from '../../domain/periods/period-ledger.js';
import { moveRecord } from '../../records/move-record.js';
import type { Unit } from '../../records/unit.js';
import { moveFirstAllowances } from '../../entitlements/entitlements-store.js';
import { moveAddonEnds } from '../../subscriptions/addon-associations-store.js';
import { loadBilledSubscription, pausedUntil } from '../../subscriptions/loaded-subscription.js';
import { lockLivePause } from '../../subscriptions/periods/pauses-store.js';
import { replaceLastPeriod } from '../../subscriptions/periods/periods-store.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';
import { storeOpeningInvoice } from '../open/opening-invoice.js';
import { moveSchedule } from '../../subscriptions/schedules-store.js';
import type { PausedSubscription } from './begin-pause.js';
import { moveSuccessors } from './move-successors.js';

/** When and how a pause ends. */
export type PauseEnd = { readonly atMs: InstantMs; readonly mode: ResumeMode | null };

function resumedMembers(ledger: PeriodLedger, row: SubscriptionRow) {
  const { endMs } = lastRecorded(ledger);
  const isCalendar = row.billing_cycle === 'calendar';
  return {
    pause_status: 'none' as const,
    active_pause_id: null,
    current_period_end: endMs,
    billing_anchor: isCalendar ? row.billing_anchor : anchorAfter(ledger).atMs,
  };
}

/**
 * Ends the pause of a locked subscription: its running period lasts as much longer, and with it the
 * billing goes on. What the period was not charged for in advance is invoiced (docs/domain.md 26).
 */
export async function endPause(
  unit: Unit,
  { subscription: paused, pause }: PausedSubscription,
  { atMs, mode }: PauseEnd,
): Promise<PausedSubscription> {
  const loaded = await loadBilledSubscription(unit, paused.id);
  const { terms } = pausedUntil(loaded, atMs);
  await replaceLastPeriod(unit, { subscriptionId: paused.id, period: lastRecorded(terms) });
  const completed = await moveRecord(unit, PAUSES, {
    target: { id: pause.id },
    lifecycle: PAUSE,
    move: 'complete',
    to: 'completed',
    patch: () => ({ resumed_at: atMs, resume_mode: mode, ends_at: null }),
  });
  const resumed = await moveRecord(unit, SUBSCRIPTIONS, {
    target: { id: paused.id },
    lifecycle: SUBSCRIPTION,
    move: 'resume',
    to: 'active',
    patch: (row) => resumedMembers(terms, row),
    told: (after) => toldOfSubscription(unit, after),
  });
  const subscription = await withChildren(unit, resumed);
  const { current_period_end: toMs } = subscription;
  await moveSchedule(unit, paused.id, toMs);
  const handOver = { fromMs: paused.current_period_end, toMs };
  await moveFirstAllowances(unit, paused.id, { sinceMs: paused.current_period_start, toMs });
  await moveSuccessors(unit, loaded.related.lineItems, handOver);
  await moveAddonEnds(unit, paused.id, handOver);
  if (pause.pause_mode === 'period_end') {
    const { lineItems } = loaded.related;
    const reason = 'SUBSCRIPTION_UPDATE';
    await storeOpeningInvoice(unit, { subscription, lineItems, reason });
  }
  return { subscription, pause: completed };
}

/** Ends the pause of a subscription that ends itself: a coming one never begins. */
export async function closePause(
  unit: Unit,
  subscriptionId: string,
  atMs: InstantMs,
): Promise<void> {
  const pause = await lockLivePause(unit, subscriptionId);
  if (pause === null) return;
  const move = { target: { id: pause.id }, lifecycle: PAUSE };
  if (pause.pause_status === 'scheduled') {
    await moveRecord(unit, PAUSES, { ...move, move: 'cancel', to: 'cancelled' });
    return;
  }
  await moveRecord(unit, PAUSES, {
    ...move,
    move: 'complete',
    to: 'completed',
    // One that begins after an earlier end, looked at backwards, has lasted no time.
    patch: () => ({ resumed_at: Math.max(atMs, pause.pause_start), ends_at: null }),
  });
}
