import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { noRows } from '../../../sql/columns.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { cancellationDate, type CancellationRequest } from '../../domain/periods/cancellation.js';
import { endLedger } from '../../domain/periods/ledger-rows.js';
import { lastRecorded } from '../../domain/periods/period-ledger.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { targetRefusal, updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { moveRecord } from '../../records/move-record.js';
import type { Occasion } from '../../records/occasion.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { announce } from '../../records/recorded-change.js';
import { invalid, isRefusal, Refusal } from '../../records/refusal.js';
import { readUnit, type ReadUnit, type Unit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { replaceLastPeriod } from '../../subscriptions/periods/periods-store.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';
import type { InvoiceDocument } from '../document/invoice-document.js';
import { asComputed, finalizeDrafts } from '../finalize/finalize-drafts.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../stored/compute-tasks.js';
import { documentOf } from '../stored/document-parts.js';
import { storeDrafts } from '../stored/draft-invoices.js';
import type { CancellationType, CancelSubscriptionBody } from './cancel-dto.js';
import { holdUnchanged, type HeldSubscription } from '../stored/revisions.js';

/** A request to cancel that can be carried out. */
type Cancellation = {
  readonly type: CancellationType;
  readonly atMs: InstantMs;
  readonly reason: string | null;
  readonly loaded: BilledSubscription;
  /** Of an immediate cancellation, which is billed up to its instant. */
  readonly hasFinalInvoice: boolean;
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
  readonly processedAt: InstantMs;
};

/** What stands in the way of a cancellation of this type; null when nothing does. */
function stateRefusal(row: SubscriptionRow, type: CancellationType): Refusal | null {
  const problem = problemOfMove(SUBSCRIPTION, 'cancel', row.subscription_status);
  if (problem !== null) return new Refusal('invalid_operation', problem);
  if (row.subscription_status === 'draft' && type === 'immediate') return null;
  if (row.subscription_status !== 'active') {
    const planned = `cancelling a subscription that is ${row.subscription_status} is planned`;
    return new Refusal('invalid_operation', planned);
  }
  if (type === 'immediate' || row.cancel_at === null) return null;
  const pending = `the subscription ends at ${formatInstant(row.cancel_at)} already`;
  return new Refusal('invalid_operation', pending);
}

/** The instant that a request names; null when it names none. */
function readCancelAt(body: CancelSubscriptionBody): InstantMs | null | Refusal {
  if (body.proration_behavior === 'create_prorations') {
    return invalid({ proration_behavior: 'create_prorations is planned; send none' });
  }
  const reader = new MemberReader();
  const cancelAtMs = reader.instant('cancel_at', body.cancel_at);
  return reader.refusal() ?? cancelAtMs;
}

/** The instant of a cancellation. A draft was never charged, whenever it was to begin. */
function dateOf(
  row: SubscriptionRow,
  request: CancellationRequest,
  now: InstantMs,
): InstantMs | Refusal {
  if (row.subscription_status === 'draft') return Math.max(now, row.start_date);
  const dates = {
    ...{ startMs: row.start_date, currentStartMs: row.current_period_start },
    currentEndMs: row.current_period_end,
  };
  const { atMs, problem } = cancellationDate(dates, request, now);
  return problem === null ? atMs : invalid({ [problem.member]: problem.text });
}

/** Whether something of the running period is billed when it is cut short (docs/domain.md 24.5). */
function isBillable(row: SubscriptionRow, type: CancellationType, atMs: InstantMs): boolean {
  const isCut = type === 'immediate' && atMs > row.current_period_start;
  return isCut && row.subscription_status === 'active';
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
  const atMs = dateOf(row, { type, cancelAtMs }, unit.now);
  if (isRefusal(atMs)) return atMs;
  const isBilled = body.invoice_policy !== 'skip' && isBillable(row, type, atMs);
  return { type, atMs, reason, loaded, hasFinalInvoice: isBilled };
}

async function compute(
  dependencies: BillingDependencies,
  occasion: Occasion,
  cancellation: Cancellation,
): Promise<Computed | Refusal> {
  if (!cancellation.hasFinalInvoice) return { cancellation, final: null };
  const { atMs, loaded } = cancellation;
  const { id: subscriptionId, current_period_start: startMs } = loaded.subscription;
  const period = { startMs, endMs: atMs };
  const task = { subscriptionId, period, reason: 'SUBSCRIPTION_CYCLE', invoiceId: null } as const;
  const { computed, refused } = await computeTasks(dependencies, occasion, () =>
    Promise.resolve([{ ...task, endsAtMs: atMs }]),
  );
  const [refusal] = refused;
  if (refusal !== undefined) return refusal.refusal;
  const final = assertPresent(computed[0], 'the final invoice');
  return { cancellation, final: final.invoice.lines.length === 0 ? null : final };
}

type Held = { readonly row: SubscriptionRow; readonly held: HeldSubscription | null };

/** Locks the subscription; null when it, or an invoice of it, has changed since it was read. */
async function hold(unit: Unit, { cancellation, final }: Computed): Promise<Held | null> {
  const { subscription } = cancellation.loaded;
  if (final === null) {
    const row = await lockRecord(unit, SUBSCRIPTIONS, subscription.id);
    return row?.version === subscription.version ? { row, held: null } : null;
  }
  const held = (await holdUnchanged(unit, [final.query])).get(subscription.id);
  return held === undefined ? null : { row: held.subscription, held };
}

/** Stores and finalizes the final invoice; null when it charges nothing. */
async function storeFinal(
  unit: Unit,
  final: ComputedTask,
  held: HeldSubscription,
): Promise<InvoiceDocument | null | Refusal> {
  const drafts = await storeDrafts(unit, [{ computed: final, held, finalizeAt: null }]);
  if (isRefusal(drafts)) return drafts;
  const done = await finalizeDrafts(unit, await findInvoiceConfig(unit), drafts.map(asComputed));
  if (isRefusal(done)) return done;
  const [stored] = done.finalized;
  return stored === undefined ? null : documentOf(stored.row, stored.parts);
}

/** Ends what belongs to a subscription where it ends: its lines and its addons. */
async function endParts({ tx, now }: Unit, id: string, atMs: InstantMs): Promise<void> {
  const at = formatInstant(atMs);
  await tx.query(sql.type(noRows)`
    UPDATE subscription_line_items SET end_date = greatest(start_date, ${at}::timestamptz)
    WHERE subscription_id = ${id} AND (end_date IS NULL OR end_date > ${at}::timestamptz)
      AND ${isOfEnvironment}`);
  await tx.query(sql.type(noRows)`
    UPDATE addon_associations SET addon_status = 'cancelled', version = version + 1,
      end_date = greatest(start_date, ${at}::timestamptz),
      updated_at = ${formatInstant(now)}::timestamptz
    WHERE subscription_id = ${id} AND addon_status <> 'cancelled' AND ${isOfEnvironment}`);
}

/** The metadata by which a subscription says why it ends (docs/domain.md 24.7). */
function endingOf({ type, atMs, reason }: Cancellation, metadata: MetadataDto): MetadataDto {
  return {
    ...metadata,
    cancellation_type: type,
    cancellation_effective_date: formatInstant(atMs),
    ...(reason === null ? {} : { cancellation_reason: reason }),
  };
}

async function tellUpdated(unit: Unit, row: SubscriptionRow): Promise<void> {
  const told = await toldOfSubscription(unit, row);
  announce(unit, SUBSCRIPTIONS, { id: row.id, name: 'subscription.updated', told });
}

/** Records where the running period ends now. */
async function endPeriod(unit: Unit, { loaded, atMs }: Cancellation): Promise<void> {
  const { terms, subscription } = loaded;
  if (atMs <= lastRecorded(terms).startMs) return;
  await replaceLastPeriod(unit, {
    subscriptionId: subscription.id,
    period: lastRecorded(endLedger(terms, atMs)),
  });
}

/** A cancellation that waits for its day. */
async function defer(
  unit: Unit,
  row: SubscriptionRow,
  cancellation: Cancellation,
): Promise<SubscriptionRow | Refusal> {
  const { type, atMs } = cancellation;
  const isWithin = type === 'scheduled_date' && atMs < row.current_period_end;
  if (isWithin) await endPeriod(unit, cancellation);
  const patch = {
    ...{ cancel_at_period_end: true, cancel_at: atMs },
    ...(type === 'scheduled_date' ? { end_date: atMs } : {}),
    ...(isWithin ? { current_period_end: atMs } : {}),
    metadata: endingOf(cancellation, row.metadata),
  };
  const after = await updateRecord(unit, SUBSCRIPTIONS, { row, patch });
  if (!isRefusal(after)) await tellUpdated(unit, after);
  return after;
}

/** A cancellation that takes effect now. */
async function end(
  unit: Unit,
  row: SubscriptionRow,
  cancellation: Cancellation,
): Promise<SubscriptionRow | Refusal> {
  const { atMs } = cancellation;
  await endPeriod(unit, cancellation);
  await endParts(unit, row.id, atMs);
  const after = await moveRecord(unit, SUBSCRIPTIONS, {
    ...{ target: { id: row.id }, lifecycle: SUBSCRIPTION, move: 'cancel', to: 'cancelled' },
    patch: ({ metadata, current_period_start: start }) => ({
      ...{ cancel_at: atMs, end_date: atMs, cancelled_at: unit.now, cancel_at_period_end: false },
      ...(atMs > start ? { current_period_end: atMs } : {}),
      metadata: endingOf(cancellation, metadata),
    }),
    told: (changed) => toldOfSubscription(unit, changed),
  });
  if (!isRefusal(after)) await tellUpdated(unit, after);
  return after;
}

async function store(
  unit: Unit,
  { cancellation, final }: Computed,
  { row, held }: Held,
): Promise<Cancelled | Refusal> {
  const invoice = final === null || held === null ? null : await storeFinal(unit, final, held);
  if (isRefusal(invoice)) return invoice;
  const subscription =
    cancellation.type === 'immediate'
      ? await end(unit, row, cancellation)
      : await defer(unit, row, cancellation);
  if (isRefusal(subscription)) return subscription;
  const { type, atMs, reason } = cancellation;
  return { subscription, type, atMs, reason, invoice, processedAt: unit.now };
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
  return computeThenStore<Computed, Held, Cancelled>(dependencies, occasion, {
    what: 'the cancellation',
    compute: async () => {
      const cancellation = await readUnit(dependencies, occasion, (unit) =>
        readCancellation(unit, target, body),
      );
      return isRefusal(cancellation) ? cancellation : compute(dependencies, occasion, cancellation);
    },
    lockAndCompare: hold,
    store,
  });
}
