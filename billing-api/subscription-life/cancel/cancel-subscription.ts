import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import {
  payerOf,
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { SCHEDULES } from '../../declarations/subscriptions/schedule.resource.js';
import { pendingRefusal, previousOf } from '../../subscriptions/schedules-store.js';
import { isIn, problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { unsplitPeriodAt } from '../../domain/periods/ledger-periods.js';
import { cancellationDate, type CancellationRequest } from '../../domain/periods/cancellation.js';
import { targetRefusal, updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { invalid, isRefusal, Refusal } from '../../records/refusal.js';
import { readUnit, type ReadUnit, type Unit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  pausedUntil,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { endedPeriodRefusal } from '../../subscriptions/ended-period.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { creditLines, creditsOf } from '../settle/credit-lines.js';
import { findUnused, type UnusedItem } from '../settle/find-unused.js';
import { planCredits } from '../settle/plan-credits.js';
import { sumsOf, type CreditSums } from '../settle/store-credits.js';
import type { BillingDependencies, ComputedTask } from '../../invoicing/drafts/compute-tasks.js';
import { lockPayingWallets } from '../../money/wallets/wallets-store.js';
import { documentOf } from '../../documents/store/document-parts.js';
import type { CancellationType, CancelSubscriptionBody } from './cancel-dto.js';
import { endPeriod, endSubscription } from './end-subscription.js';
import { refuseGrouped } from '../groups/refuse-grouped.js';
import { voidDraftsFrom } from '../../invoicing/invoices/void-invoice.js';
import { computeFinal, isBilledUntil, storeFinal } from './final-invoice.js';
import { keepCharges } from './keep-charges.js';
import { lockEnding, type LockedEnding } from './lock-ending.js';

/** A request to cancel that can be carried out. */
type Cancellation = {
  readonly type: CancellationType;
  readonly atMs: InstantMs;
  readonly reason: string | null;
  readonly loaded: BilledSubscription;
  /** Of an immediate cancellation, which is billed up to its instant. */
  readonly hasFinalInvoice: boolean;
  /** Whether what is unused of charges in advance is given back. */
  readonly isCredited: boolean;
};

/** A cancellation with its final invoice as it was computed; null where there is none. */
type Computed = { readonly cancellation: Cancellation; readonly final: ComputedTask | null };

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
};

/** What is cancelled only immediately. */
const AT_ONCE = ['draft', 'incomplete', 'paused'];

/** What stands in the way of a cancellation of this type; null when nothing does. */
function stateRefusal(row: SubscriptionRow, type: CancellationType): Refusal | null {
  const inherited = refuseInherited(row, 'is not cancelled by itself');
  if (inherited !== null) return inherited;
  const problem = problemOfMove(SUBSCRIPTION, 'cancel', row.subscription_status);
  if (problem !== null) return new Refusal('invalid_operation', problem);
  if (AT_ONCE.includes(row.subscription_status) && type === 'immediate') return null;
  if (!isIn(SUBSCRIPTION, 'running', row.subscription_status)) {
    const only = `a subscription that is ${row.subscription_status} is cancelled only immediately`;
    return new Refusal('invalid_operation', only);
  }
  if (type === 'immediate' || row.cancel_at === null) return null;
  const pending = `the subscription ends at ${formatInstant(row.cancel_at)} already`;
  return new Refusal('invalid_operation', pending);
}

/** The instant that a request names; null when it names none. */
function readCancelAt(body: CancelSubscriptionBody): InstantMs | null | Refusal {
  const reader = new MemberReader();
  const cancelAtMs = reader.instant('cancel_at', body.cancel_at);
  return reader.refusal() ?? cancelAtMs;
}

/** Why a subscription cannot end before its running period; null when it can. */
function backdatedProblem({ subscription: row, terms }: BilledSubscription, atMs: InstantMs) {
  if (atMs >= row.current_period_start || row.subscription_status === 'draft') return null;
  const unsplit = unsplitPeriodAt(terms, row.current_period_start);
  if (unsplit === null || atMs <= unsplit.startMs) return null;
  const closed = formatInstant(row.current_period_start);
  return `must not be before the last threshold invoice of the running period, ${closed}, which has billed the usage until then`;
}

/** Whether the period at an instant has begun, and the job has not recorded it yet. */
function isLate(row: SubscriptionRow, { type }: CancellationRequest, atMs: InstantMs): boolean {
  const isRunning = isIn(SUBSCRIPTION, 'running', row.subscription_status);
  return type === 'immediate' && isRunning && atMs > row.current_period_end;
}

/** The instant of a cancellation. A draft was never charged, whenever it was to begin. */
function dateOf(
  loaded: BilledSubscription,
  request: CancellationRequest,
  now: InstantMs,
): InstantMs | Refusal {
  const { subscription: row } = loaded;
  if (row.subscription_status === 'draft') return Math.max(now, row.start_date);
  const dates = { startMs: row.start_date, currentEndMs: row.current_period_end };
  const { atMs, problem } = cancellationDate(dates, request, now);
  if (problem !== null) return invalid({ [problem.member]: problem.text });
  const backdated = backdatedProblem(loaded, atMs);
  if (backdated !== null) return invalid({ cancel_at: backdated });
  return isLate(row, request, atMs) ? endedPeriodRefusal(row) : atMs;
}

async function readCancellation(
  unit: ReadUnit,
  target: ChangeTarget,
  body: CancelSubscriptionBody,
): Promise<Cancellation | Refusal> {
  const { cancellation_type: type = 'immediate', reason = null } = body;
  const cancelAtMs = readCancelAt(body);
  if (isRefusal(cancelAtMs)) return cancelAtMs;
  const loaded = await loadBilledSubscription(unit, target.id);
  if (isRefusal(loaded)) return loaded;
  const { subscription: row } = loaded;
  const refusal = stateRefusal(row, type) ?? targetRefusal(SUBSCRIPTIONS, row, target);
  if (refusal !== null) return refusal;
  const pending = type === 'immediate' ? null : await pendingRefusal(unit, row.id, null);
  if (pending !== null) return pending;
  const atMs = dateOf(loaded, { type, cancelAtMs }, unit.now);
  return isRefusal(atMs) ? atMs : cancellationOf({ type, atMs, reason, loaded }, body);
}

function cancellationOf(
  base: Pick<Cancellation, 'type' | 'atMs' | 'reason' | 'loaded'>,
  { invoice_policy: policy, proration_behavior: proration }: CancelSubscriptionBody,
): Cancellation {
  // The invoice of its parent bills the last period of a grouped child (docs/domain.md 29.2).
  const isGrouped = base.loaded.subscription.subscription_type === 'grouped_invoicing';
  const isBilled = !isGrouped && base.type === 'immediate' && isBilledUntil(base);
  return {
    ...base,
    hasFinalInvoice: isBilled && policy !== 'skip',
    isCredited: proration === 'create_prorations',
  };
}

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
): Promise<SubscriptionRow | Refusal> {
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
  const schedule = await createRecord(unit, SCHEDULES, {
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
  if (isRefusal(schedule)) return schedule;
  const after = await withChildren(unit, await updateRecord(unit, SUBSCRIPTIONS, { row, patch }));
  if (!isRefusal(after)) await announceUpdated(unit, after);
  return after;
}

/** A cancellation that takes effect now. */
async function end(unit: Unit, cancellation: Cancellation): Promise<SubscriptionRow | Refusal> {
  const { atMs, loaded, isCredited } = cancellation;
  const metadataOf = (metadata: MetadataDto) => endingOf(cancellation, metadata);
  if (!isCredited) await keepCharges(unit, loaded, atMs);
  const after = await endSubscription(unit, loaded, { atMs, metadataOf });
  if (!isRefusal(after)) await announceUpdated(unit, after);
  return after;
}

/** Takes back the periods after an earlier instant, in which a subscription then has not lived. */
async function unlive(unit: Unit, row: SubscriptionRow, atMs: InstantMs): Promise<Refusal | null> {
  if (atMs >= row.current_period_start) return null;
  return (await refuseGrouped(unit, row)) ?? voidDraftsFrom(unit, row.id, atMs);
}

function endOrDefer(unit: Unit, row: SubscriptionRow, cancellation: Cancellation) {
  return cancellation.type === 'immediate'
    ? end(unit, cancellation)
    : defer(unit, row, cancellation);
}

/**
 * Gives back what is unused, and answers how much that is; what a later end gives back is only
 * expected.
 */
async function credit(
  unit: Unit,
  row: SubscriptionRow,
  { unused, isGiven }: { readonly unused: readonly UnusedItem[]; readonly isGiven: boolean },
): Promise<CreditSums | Refusal> {
  const credits = creditsOf(unused, row.currency);
  if (!isGiven || credits.length === 0) return sumsOf(await planCredits(unit, credits));
  // Those that pay a final invoice are locked all together, as whoever pays from several does.
  await lockPayingWallets(unit, [payerOf(row)], 'PRE_PAID');
  return creditLines(unit, credits);
}

async function store(
  unit: Unit,
  { cancellation, final }: Computed,
  { row, held }: LockedEnding,
): Promise<Cancelled | Refusal> {
  const { type, atMs, reason, loaded, isCredited } = cancellation;
  const refusal = await unlive(unit, row, atMs);
  if (refusal !== null) return refusal;
  const unused = isCredited ? await findUnused(unit, pausedUntil(loaded, atMs), atMs) : [];
  // Before the final invoice, which takes it off (docs/domain.md 24.6).
  const credited = await credit(unit, row, { unused, isGiven: givesBack(cancellation) });
  if (isRefusal(credited)) return credited;
  const stored = final === null || held === null ? null : await storeFinal(unit, final, held);
  if (isRefusal(stored)) return stored;
  const subscription = await endOrDefer(unit, row, cancellation);
  if (isRefusal(subscription)) return subscription;
  return {
    subscription,
    type,
    atMs,
    reason,
    unused,
    credited,
    processedAt: unit.now,
    invoice: stored === null ? null : documentOf(stored.row, stored.parts),
  };
}

/**
 * POST /subscriptions/{id}/cancel: ends a subscription at once, with a final invoice of what is not
 * billed yet, or notes when it ends; then the billing job bills its last period (docs/domain.md
 * 24). All of it happens, or nothing.
 */
export function cancelSubscription(
  dependencies: BillingDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: CancelSubscriptionBody },
): Promise<Cancelled | Refusal> {
  return computeThenStore<Computed, LockedEnding, Cancelled>(dependencies, occasion, {
    what: 'the cancellation',
    compute: async () => {
      const cancellation = await readUnit(dependencies, occasion, (unit) =>
        readCancellation(unit, target, body),
      );
      if (isRefusal(cancellation)) return cancellation;
      if (!cancellation.hasFinalInvoice) return { cancellation, final: null };
      const final = await computeFinal(dependencies, occasion, cancellation);
      return isRefusal(final) ? final : { cancellation, final };
    },
    lockAndCompare: (unit, { cancellation, final }) =>
      lockEnding(unit, cancellation, { final, isCredited: givesBack(cancellation) }),
    store,
  });
}
