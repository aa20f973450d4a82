import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import {
  payerOf,
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { SCHEDULES } from '../../declarations/subscriptions/schedule.resource.js';
import { previousOf, refuseBefore } from '../../subscriptions/schedules-store.js';
import { updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { resultOf, undo } from '../../records/dry-run.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import type { Occasion } from '../../records/occasion.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { accept, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { pausedUntil } from '../../subscriptions/loaded-subscription.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import type { StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import { creditLines, creditsOf } from '../settle/credit-lines.js';
import { findUnused, type UnusedItem } from '../settle/find-unused.js';
import { planCredits } from '../settle/plan-credits.js';
import { sumsOf, type CreditSums } from '../settle/store-credits.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { isCharged, storeInvoices } from '../../invoicing/finalize/store-invoices.js';
import { lockPayingWallets } from '../../money/wallets/wallets-store.js';
import { documentOf } from '../../documents/store/document-parts.js';
import type { CancellationType, CancelSubscriptionBody } from './cancel-dto.js';
import { endPeriod, endSubscription } from './end-subscription.js';
import { refuseGrouped } from '../groups/refuse-grouped.js';
import { voidDraftsFrom } from '../../invoicing/invoices/void-invoice.js';
import { computeEnding, type ComputedEnding } from './final-invoice.js';
import { readCancellation, type Cancellation } from './read-cancellation.js';
import { lockEnding, type LockedEnding } from './lock-ending.js';

type Computed = ComputedEnding<Cancellation>;

/** What a request to cancel has done. */
export type Cancelled = {
  readonly subscription: SubscriptionRow;
  readonly type: CancellationType;
  readonly atMs: InstantMs;
  readonly reason: string | null;
  readonly invoice: InvoiceDocument | null;
  /** What was given back of charges in advance, or is expected to be at a later end. */
  readonly unused: readonly UnusedItem[];
  readonly credited: CreditSums;
  readonly processedAt: InstantMs;
  /** Only a look: nothing of it is stored. */
  readonly isDry: boolean;
};

/** A later end gives back what is unused then. */
const givesBack = ({ type, isCredited }: Cancellation): boolean =>
  isCredited && type === 'immediate';

/** The metadata by which a subscription says why it ends (docs/domain.md 24.7). */
function endingOf({ type, atMs, reason }: Cancellation, metadata: MetadataDto): MetadataDto {
  return {
    ...metadata,
    cancellation_type: type,
    cancellation_effective_date: formatInstant(atMs),
    ...(reason === null ? {} : { cancellation_reason: reason }),
  };
}

/** A cancellation that waits for its day. */
async function defer(
  unit: Unit,
  row: SubscriptionRow,
  cancellation: Cancellation,
): Promise<SubscriptionRow> {
  const { type, atMs, loaded, isCredited } = cancellation;
  const isWithin = type === 'scheduled_date' && atMs < row.current_period_end;
  if (isWithin) await endPeriod(unit, loaded, atMs);
  const patch = {
    cancel_at_period_end: true,
    cancel_at: atMs,
    ...(type === 'scheduled_date' ? { end_date: atMs } : {}),
    ...(isWithin ? { current_period_end: atMs } : {}),
    metadata: endingOf(cancellation, row.metadata),
  };
  await createRecord(unit, SCHEDULES, {
    subscription_id: row.id,
    schedule_type: 'cancellation',
    schedule_status: 'pending',
    scheduled_at: atMs,
    executed_at: null,
    cancelled_at: null,
    error: null,
    configuration: {
      cancellation_type: type,
      reason: cancellation.reason,
      ...(isCredited ? { proration_behavior: 'create_prorations' } : {}),
    },
    previous: previousOf(row),
  });
  const after = await withChildren(unit, await updateRecord(unit, SUBSCRIPTIONS, { row, patch }));
  await announceUpdated(unit, after, loaded.related.customers);
  return after;
}

/** A cancellation that takes effect now. */
async function end(
  unit: Unit,
  cancellation: Cancellation,
  locked: LockedEnding,
): Promise<SubscriptionRow> {
  const { atMs, loaded, isCredited } = cancellation;
  const after = await endSubscription(unit, {
    loaded,
    atMs,
    locked,
    staysCharged: !isCredited,
    endedAs: null,
    isReplaced: false,
    metadataOf: (metadata) => endingOf(cancellation, metadata),
  });
  await announceUpdated(unit, after, loaded.related.customers);
  return after;
}

/** Voids drafts of periods after an end that lies before the running period. */
async function voidDraftsAfter(unit: Unit, row: SubscriptionRow, atMs: InstantMs): Promise<void> {
  if (atMs >= row.current_period_start) return;
  await refuseGrouped(unit, row);
  await voidDraftsFrom(unit, row.id, atMs);
}

/**
 * Gives back what is unused, and answers how much that is; what a later end gives back is only
 * expected.
 */
async function credit(
  unit: Unit,
  row: SubscriptionRow,
  { unused, isGiven }: { readonly unused: readonly UnusedItem[]; readonly isGiven: boolean },
): Promise<CreditSums> {
  const credits = creditsOf(unused, row.currency);
  if (!isGiven || credits.length === 0) return sumsOf(await planCredits(unit, credits));
  // Those that pay a final invoice are locked all together, as whoever pays from several does.
  await lockPayingWallets(unit, [payerOf(row)], 'PRE_PAID');
  return creditLines(unit, credits);
}

/** The final invoice, finalized; null where there is none, or it charges nothing. */
async function bill(
  unit: Unit,
  final: Computed['final'],
  { held }: LockedEnding,
): Promise<StoredInvoice | null> {
  if (final === null || held === null) return null;
  const invoices = await storeInvoices(unit, [{ computed: final, held, finalizeAt: null }]);
  return invoices.find(isCharged) ?? null;
}

async function store(
  unit: Unit,
  { ending: cancellation, final }: Computed,
  locked: LockedEnding,
): Promise<Omit<Cancelled, 'isDry'>> {
  const { type, atMs, reason, loaded, isCredited } = cancellation;
  const { row, pending } = locked;
  const isNow = type === 'immediate';
  if (!isNow) accept(refuseBefore(pending));
  await voidDraftsAfter(unit, row, atMs);
  const unused = isCredited ? await findUnused(unit, pausedUntil(loaded, atMs), atMs) : [];
  // Before the final invoice, which takes it off (docs/domain.md 24.6).
  const credited = await credit(unit, row, { unused, isGiven: givesBack(cancellation) });
  const billed = await bill(unit, final, locked);
  const subscription = await (isNow
    ? end(unit, cancellation, locked)
    : defer(unit, row, cancellation));
  const invoice = billed === null ? null : documentOf(billed.row, billed.parts);
  const done = { subscription, type, atMs, reason, unused, credited, invoice };
  return { ...done, processedAt: unit.now };
}

/**
 * POST /subscriptions/{id}/cancel: ends a subscription at once, with a final invoice of what is not
 * billed yet, or notes when it ends; then the billing job bills its last period (docs/domain.md
 * 24). All of it happens, or nothing; with `dry_run` it is carried out and rolled back.
 */
export async function cancelSubscription(
  dependencies: BillingDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: CancelSubscriptionBody },
): Promise<Cancelled | Refusal> {
  const isDry = body.dry_run === true;
  const done = await computeThenStore<Computed, LockedEnding, Cancelled>(dependencies, occasion, {
    what: 'the cancellation',
    compute: () =>
      computeEnding(dependencies, occasion, (unit) => readCancellation(unit, target, body)),
    lockAndCompare: (unit, { ending, final }) =>
      lockEnding(unit, ending, { final, isCredited: givesBack(ending) }),
    store: async (unit, computed, locked) => {
      const stored = await store(unit, computed, locked);
      const cancelled = { ...stored, isDry };
      if (isDry) undo(cancelled);
      return cancelled;
    },
  });
  return resultOf(done);
}
