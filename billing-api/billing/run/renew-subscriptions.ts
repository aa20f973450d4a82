import { mustGet } from '../../../runtime/failure.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { appendRow, isOver } from '../../domain/periods/ledger-rows.js';
import { lastRecorded, type LedgerPeriod } from '../../domain/periods/period-ledger.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { moveRecords, updateRecords } from '../../records/change-records.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { insertPeriods } from '../../subscriptions/periods/periods-store.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';
import type { ComputedTask } from '../stored/compute-tasks.js';
import { storeDrafts, type StoredInvoice } from '../stored/draft-invoices.js';
import { holdUnchanged, type HeldSubscription } from '../stored/revisions.js';

/** A held subscription whose period has ended, and what follows it. */
type Renewal = {
  readonly computed: ComputedTask;
  readonly held: HeldSubscription;
  /** The row of the ledger that ended. */
  readonly ended: LedgerPeriod;
  /** Null when the subscription ends with it. */
  readonly next: LedgerPeriod | null;
};

function renewalOf(computed: ComputedTask, held: HeldSubscription): Renewal {
  const { terms } = computed.query.loaded;
  const ended = lastRecorded(terms);
  const next = isOver(terms) ? null : lastRecorded(appendRow(terms));
  return { computed, held, ended, next };
}

/** Begins the next periods, and ends subscriptions that have none. */
async function beginPeriods(unit: Unit, renewals: readonly Renewal[]): Promise<Refusal | null> {
  await insertPeriods(
    unit,
    renewals.flatMap(({ held, ended, next }) =>
      // A release that recorded no periods left the first one out.
      [ended, ...(next === null ? [] : [next])].map((period) => ({
        subscriptionId: held.subscription.id,
        period,
      })),
    ),
  );
  const begun = renewals.flatMap(({ held: { subscription: row }, next }) => {
    if (next === null) return [];
    const patch = { current_period_start: next.startMs, current_period_end: next.endMs };
    return [{ row, patch }];
  });
  const renewed = await updateRecords(unit, SUBSCRIPTIONS, begun);
  if (isRefusal(renewed)) return renewed;
  const over = renewals.filter(({ next }) => next === null);
  const cancelled = await moveRecords(unit, SUBSCRIPTIONS, {
    lifecycle: SUBSCRIPTION,
    move: 'cancel',
    to: 'cancelled',
    changes: over.map(({ held, ended }) => ({
      row: held.subscription,
      patch: { cancelled_at: ended.endMs },
    })),
    told: (after) => toldOfSubscription(unit, after),
  });
  return isRefusal(cancelled) ? cancelled : null;
}

/**
 * Stores what follows the end of a period of each of these subscriptions, in one transaction: the
 * draft of its invoice, the next row of the period ledger, and the current period; where no period
 * follows, the subscription is cancelled (docs/domain.md 32.2). Subscriptions that have changed
 * since they were computed are left as they are; they are due again.
 */
export async function renewSubscriptions(
  unit: Unit,
  invoices: readonly ComputedTask[],
): Promise<readonly StoredInvoice[] | Refusal> {
  const held = await holdUnchanged(
    unit,
    invoices.map(({ query }) => query),
  );
  const renewals = invoices
    .filter(({ query }) => held.has(query.task.subscriptionId))
    .map((computed) => {
      const { subscriptionId } = computed.query.task;
      return renewalOf(computed, mustGet(held, subscriptionId, 'a held subscription'));
    });
  if (renewals.length === 0) return [];
  const { finalization_delay_seconds: delay } = await findInvoiceConfig(unit);
  const drafts = await storeDrafts(
    unit,
    renewals.map(({ computed, held: of }) => {
      const { endMs } = computed.query.task.period;
      return { computed, held: of, finalizeAt: endMs + delay * 1_000 };
    }),
  );
  if (isRefusal(drafts)) return drafts;
  const refusal = await beginPeriods(unit, renewals);
  return refusal ?? drafts;
}
