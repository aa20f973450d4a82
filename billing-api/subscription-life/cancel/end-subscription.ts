import { sql } from 'slonik';
import { mustGet } from '../../../runtime/failure.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { endLedger, rowsBefore } from '../../domain/periods/ledger-rows.js';
import { lastRecorded, type LedgerPeriod } from '../../domain/periods/period-ledger.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { moveRecord } from '../../records/move-record.js';
import type { MetadataDto } from '../../records/record-dto.js';
import type { Unit } from '../../records/unit.js';
import { pausedUntil, type BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { ScheduleRow } from '../../declarations/subscriptions/schedule.resource.js';
import { closeSchedule } from '../../subscriptions/schedules-store.js';
import { voidUnpaidFirst } from '../../invoicing/invoices/void-invoice.js';
import { closePause } from '../pauses/end-pause.js';
import { noteChargedUntil } from './note-charged-until.js';
import type { LockedEnding } from './lock-ending.js';
import { endOfLines } from '../../subscriptions/lines/end-lines.js';
import { endPhases } from '../../subscriptions/phases-store.js';
import { removePeriods, replaceLastPeriod } from '../../subscriptions/periods/periods-store.js';
import { releaseGroups } from '../../subscriptions/release-groups.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { toldWith } from '../../subscriptions/subscription-events.js';

/** Where a locked subscription ends, and what becomes of what it was charged beyond that. */
export type SubscriptionEnd = {
  readonly loaded: BilledSubscription;
  readonly atMs: InstantMs;
  /** As `lockEnding` has locked it. */
  readonly locked: Pick<LockedEnding, 'row' | 'pending'>;
  /**
   * Whether its charges in advance stay in full (docs/domain.md 24.5); else what is unused of them
   * is credited by the caller, or nothing is.
   */
  readonly staysCharged: boolean;
  /** The schedule that ends it; one of another type has no use any more. */
  readonly endedAs: ScheduleRow['schedule_type'] | null;
  /**
   * Whether another one takes its place: its record is archived, and its grouped children stay
   * together. It has no phases then (docs/domain.md 25.1).
   */
  readonly isReplaced: boolean;
  readonly metadataOf: (metadata: MetadataDto) => MetadataDto;
};

/** Ends what belongs to a subscription where it ends: its lines and its addons. */
async function endParts(unit: Unit, id: string, atMs: InstantMs): Promise<void> {
  const at = formatInstant(atMs);
  await unit.tx.query(sql.type(noRows)`
    WITH lines AS (${endOfLines({ column: 'subscription_id', id }, atMs)})
    UPDATE addon_associations SET addon_status = 'cancelled', version = version + 1,
      end_date = greatest(start_date, ${at}::timestamptz),
      updated_at = ${formatInstant(unit.now)}::timestamptz
    WHERE subscription_id = ${id} AND addon_status <> 'cancelled' AND ${isOfEnvironment}`);
}

/**
 * Ends what a subscription was to begin with that nobody has activated or paid for: its grants,
 * none of which was ever applied, and its unpaid first invoice.
 */
async function endUnbegun(
  unit: Unit,
  { subscription: { id, subscription_status: status } }: BilledSubscription,
): Promise<void> {
  if (status !== 'draft' && status !== 'incomplete') return;
  await unit.tx.query(sql.type(noRows)`
    UPDATE credit_grants SET has_ended = true, next_application_at = NULL
    WHERE subscription_id = ${id} AND NOT has_ended AND ${isOfEnvironment}`);
  if (status === 'incomplete') await voidUnpaidFirst(unit, id);
}

/**
 * Records in which period a subscription ends now, and where.
 * @returns that period; null where it ends as it begins, and the first one stays as it was.
 */
export async function endPeriod(
  unit: Unit,
  loaded: BilledSubscription,
  atMs: InstantMs,
): Promise<LedgerPeriod | null> {
  const { terms, subscription } = pausedUntil(loaded, atMs);
  const { id: subscriptionId, current_period_start: currentMs } = subscription;
  const isBackdated = atMs < currentMs;
  const lived = isBackdated ? rowsBefore(terms, atMs) : terms;
  if (isBackdated) await removePeriods(unit, subscriptionId, lastRecorded(lived).index);
  if (atMs <= lastRecorded(lived).startMs) return null;
  const period = lastRecorded(endLedger(lived, atMs));
  await replaceLastPeriod(unit, { subscriptionId, period });
  return period;
}

/** Closes what belongs to a subscription and ends with it, or was to come. */
async function closeParts(
  unit: Unit,
  { loaded, atMs, locked: { row, pending }, endedAs, isReplaced }: SubscriptionEnd,
): Promise<void> {
  const { id, active_pause_id: pauseId } = row;
  await endUnbegun(unit, loaded);
  if (pauseId !== null) await closePause(unit, id, atMs);
  await closeSchedule(unit, pending, endedAs);
  if (!isReplaced) await endPhases(unit, id, atMs);
}

/**
 * Ends a locked subscription at an instant, with everything that belongs to it: the one way in
 * which a cancellation, a change of plan and the end of one that was never active end it.
 */
export async function endSubscription(unit: Unit, end: SubscriptionEnd): Promise<SubscriptionRow> {
  const { loaded, atMs, locked, isReplaced, metadataOf } = end;
  const { id, customer_id: customerId } = loaded.subscription;
  if (end.staysCharged) await noteChargedUntil(unit, loaded, atMs);
  const last = await endPeriod(unit, loaded, atMs);
  await endParts(unit, id, atMs);
  await closeParts(unit, end);
  const ended = await moveRecord(unit, SUBSCRIPTIONS, {
    target: { id },
    locked: locked.row,
    lifecycle: SUBSCRIPTION,
    move: 'cancel',
    to: 'cancelled',
    patch: ({ metadata, trial_end: trialEnd }) => ({
      cancel_at: atMs,
      end_date: atMs,
      cancelled_at: unit.now,
      cancel_at_period_end: false,
      pause_status: 'none' as const,
      active_pause_id: null,
      ...(last === null
        ? {}
        : { current_period_start: last.startMs, current_period_end: last.endMs }),
      // A subscription that ends in its trial has its trial until then.
      ...(trialEnd !== null && trialEnd > atMs ? { trial_end: atMs } : {}),
      ...(isReplaced ? { status: 'archived' as const } : {}),
      metadata: metadataOf(metadata),
    }),
    told: (changed) =>
      toldWith(changed, mustGet(loaded.related.customers, customerId, 'the customer')),
  });
  if (!isReplaced) await releaseGroups(unit, [ended]);
  return withChildren(unit, ended);
}
