import { assertPresent, mustGet } from '../../../runtime/failure.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { appendRow, isOver } from '../../domain/periods/ledger-rows.js';
import { lastRecorded, type LedgerPeriod } from '../../domain/periods/period-ledger.js';
import { moveRecords, updateRecords } from '../../records/change-records.js';
import type { Unit } from '../../records/unit.js';
import { settleAddons } from '../../subscriptions/addon-associations-store.js';
import { endPhases } from '../../subscriptions/phases-store.js';
import { insertPeriods } from '../../subscriptions/periods/periods-store.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { releaseGroups } from '../../subscriptions/release-groups.js';
import { followParents } from '../../subscriptions/follow-parent.js';
import { activateIncomplete } from '../../subscriptions/activate-incomplete.js';
import { begunAs, toldWhenBegun } from '../../subscriptions/begun-as.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';
import type { ComputedTask } from '../../invoicing/drafts/compute-tasks.js';
import { asComputed, finalizeDrafts } from '../../invoicing/finalize/finalize-drafts.js';
import { closeSchedule, findPending } from '../../subscriptions/schedules-store.js';
import { closePause } from '../pauses/end-pause.js';
import { creditAtEnds } from '../settle/credit-at-end.js';
import { storeDrafts, type StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import { holdUnchanged, type HeldSubscription } from '../../invoicing/drafts/revisions.js';

/** An invoice for this reason has no usage that could still come in (docs/domain.md 16). */
const AT_ONCE = 'SUBSCRIPTION_TRIAL_END';

/** A held subscription whose period has ended, and what follows it. */
type Renewal = {
  readonly computed: ComputedTask;
  readonly held: HeldSubscription;
  /** The row of the ledger that ended. */
  readonly ended: LedgerPeriod;
  /** Null when the subscription ends with it. */
  readonly next: LedgerPeriod | null;
  /** Grouped children whose periods end with it. */
  readonly children: readonly Begun[];
};

/** A held subscription whose period has ended, and the period that follows, if any. */
export type Begun = Pick<Renewal, 'ended' | 'next'> & {
  readonly held: Pick<HeldSubscription, 'subscription'>;
};

/** What follows the running period of a held subscription. */
export function begunOf({ terms }: BilledSubscription, held: Begun['held']): Begun {
  const ended = lastRecorded(terms);
  const next = isOver(terms) ? null : lastRecorded(appendRow(terms));
  return { held, ended, next };
}

function renewalOf(computed: ComputedTask, all: ReadonlyMap<string, HeldSubscription>): Renewal {
  const { loaded, children, task } = computed.query;
  const held = mustGet(all, task.subscriptionId, 'a held subscription');
  const running = children.filter(({ loaded: { subscription }, period }) => {
    const { current_period_end: end, subscription_status: status } = subscription;
    return end === period.endMs && isIn(SUBSCRIPTION, 'running', status);
  });
  const ofChildren = running.map((child) => {
    const { id } = child.loaded.subscription;
    return begunOf(child.loaded, mustGet(all, id, 'a held child'));
  });
  return { ...begunOf(loaded, held), computed, held, children: ofChildren };
}

/** Who bills the next period: the parent of a grouped child, while it goes on. */
function billedWith({ held: { subscription } }: Begun): string | null {
  const { subscription_type: type, parent_subscription_id: parentId } = subscription;
  return type === 'grouped_invoicing' ? parentId : null;
}

/** A subscription whose next period begins, with its new current period. */
type BegunRow = {
  readonly row: SubscriptionRow;
  readonly patch: Pick<
    SubscriptionRow,
    'current_period_start' | 'current_period_end' | 'billing_anchor'
  >;
};

/** Gives subscriptions their new current periods; trials end with it. */
async function beginRunning(
  unit: Unit,
  begun: readonly BegunRow[],
): Promise<readonly SubscriptionRow[]> {
  const isTrial = ({ row }: BegunRow): boolean => row.subscription_status === 'trialing';
  const renewed = await updateRecords(
    unit,
    SUBSCRIPTIONS,
    begun.filter((one) => !isTrial(one)),
  );
  const activated: SubscriptionRow[] = [];
  for (const to of ['active', 'incomplete'] as const) {
    const moved = await moveRecords(unit, SUBSCRIPTIONS, {
      lifecycle: SUBSCRIPTION,
      move: 'end_trial',
      to,
      changes: begun.filter((one) => isTrial(one) && begunAs(one.row) === to),
      told: (after) => toldWhenBegun(unit, after),
    });
    activated.push(...moved);
  }
  return [...renewed, ...activated];
}

/** Ends the pauses, pending cancellations and phases of subscriptions that are over. */
async function closeParts(unit: Unit, over: readonly Begun[]): Promise<void> {
  for (const { held, ended } of over) {
    const { id, active_pause_id: pauseId } = held.subscription;
    if (pauseId !== null) await closePause(unit, id, ended.endMs);
  }
  const cancelled = over.filter(({ held }) => held.subscription.cancel_at !== null);
  await creditAtEnds(
    unit,
    cancelled.map(({ held, ended }) => ({
      subscriptionId: held.subscription.id,
      atMs: ended.endMs,
    })),
  );
  for (const { held, ended } of over) {
    const { id, cancel_at: cancelAt } = held.subscription;
    const pending = cancelAt === null ? null : await findPending(unit, id);
    await closeSchedule(unit, pending, 'cancellation');
    await endPhases(unit, id, ended.endMs);
  }
}

/** Begins the next periods, and ends subscriptions that have none. */
export async function beginPeriods(unit: Unit, renewals: readonly Begun[]): Promise<void> {
  await insertPeriods(
    unit,
    renewals.flatMap((renewal) => {
      const { held, ended, next } = renewal;
      // A release that recorded no periods left the first one out.
      return [ended, ...(next === null ? [] : [next])].map((period) => ({
        subscriptionId: held.subscription.id,
        period,
        billedWith: billedWith(renewal),
      }));
    }),
  );
  const begun = renewals.flatMap(({ held: { subscription: row }, next }) => {
    if (next === null) return [];
    const period = { current_period_start: next.startMs, current_period_end: next.endMs };
    return [{ row, patch: { ...period, billing_anchor: next.anchor.atMs } }];
  });
  const running = await beginRunning(unit, begun);
  await settleAddons(
    unit,
    begun.map(({ row }) => row.id),
  );
  const over = renewals.filter(({ next }) => next === null);
  await closeParts(unit, over);
  const cancelled = await moveRecords(unit, SUBSCRIPTIONS, {
    lifecycle: SUBSCRIPTION,
    move: 'cancel',
    to: 'cancelled',
    changes: over.map(({ held, ended }) => ({
      row: held.subscription,
      patch: { cancelled_at: ended.endMs, pause_status: 'none', active_pause_id: null },
    })),
    told: (after) => toldOfSubscription(unit, after),
  });
  await releaseGroups(unit, cancelled);
  await followParents(unit, [...running, ...cancelled]);
}

/**
 * Stores what follows the end of a period of each of these subscriptions, in one transaction: the
 * draft of its invoice, the next row of the period ledger, and the current period. Where no period
 * follows, the subscription is cancelled (docs/domain.md 32.2). Subscriptions that have changed
 * since they were computed are left as they are; they are due again.
 */
export async function renewSubscriptions(
  unit: Unit,
  invoices: readonly ComputedTask[],
): Promise<readonly StoredInvoice[]> {
  const held = await holdUnchanged(
    unit,
    invoices.map(({ query }) => query),
  );
  const renewals = invoices
    .filter(({ query }) => held.has(query.task.subscriptionId))
    .map((computed) => renewalOf(computed, held));
  const [first] = renewals;
  if (first === undefined) return [];
  const { config } = first.computed.query;
  const { finalization_delay_seconds: delay } = config;
  const drafts = await storeDrafts(
    unit,
    renewals.map(({ computed, held: of }) => {
      const { period, reason } = computed.query.task;
      const finalizeAt = reason === AT_ONCE ? null : period.endMs + delay * 1_000;
      return { computed, held: of, finalizeAt };
    }),
  );
  const begun = renewals.flatMap((renewal) => [renewal, ...renewal.children]);
  await beginPeriods(unit, begun);
  const atOnce = drafts.filter(({ row }) => row.billing_reason === AT_ONCE);
  if (atOnce.length === 0) return drafts;
  const final = await finalizeDrafts(unit, config, atOnce.map(asComputed));
  // Where there is nothing to pay, nothing is waited for.
  for (const { row } of final.skipped) {
    const id = assertPresent(row.subscription_id, 'the subscription of a renewal');
    await activateIncomplete(unit, id);
  }
  return drafts;
}
