import { sumOf, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { ChangeType } from '../../domain/settlement/change-type.js';
import { updateRecord } from '../../records/change-record.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import { lockRecordsForChange, readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { announce } from '../../records/recorded-change.js';
import { resultOf, undone } from '../../records/dry-run.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { readUnit, type Unit } from '../../records/unit.js';
import { lockChildren } from '../../subscriptions/children-store.js';
import { toldOfSubscription } from '../../subscriptions/subscription-events.js';
import { endSubscription } from '../cancel/end-subscription.js';
import { keepCharges } from '../cancel/keep-charges.js';
import { lockEnding, type LockedEnding } from '../cancel/lock-ending.js';
import { computeFinal, isBilledUntil, storeFinal } from '../cancel/final-invoice.js';
import { storeOpeningInvoice } from '../open/opening-invoice.js';
import { changedSince } from '../open/made-subscription.js';
import { storeSubscription } from '../open/store-subscription.js';
import { settleOpening } from '../open/settle-opening.js';
import { creditsOf, setOffOf } from '../settle/credit-lines.js';
import { findUnused } from '../settle/find-unused.js';
import { planCredits } from '../settle/plan-credits.js';
import { storeCredits, type GivenCredit, type SetOff } from '../settle/store-credits.js';
import type { BillingDependencies, ComputedTask } from '../../invoicing/drafts/compute-tasks.js';
import { cutCommitments } from '../../invoicing/drafts/cut-commitments.js';
import { storeDrafts, type StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import type { HeldSubscription } from '../../invoicing/drafts/revisions.js';
import { changeTypeOfLines } from './change-type-of-lines.js';
import { findLeftAllowances } from './left-allowances.js';
import { keepAdjustments } from './keep-adjustments.js';
import { differenceFrom, figuresOf, readToken, type ShownChange } from './preview-token.js';
import { lockGroup, regroup } from './regroup.js';
import { readChange, type ChangeRequest, type PlanChange } from './read-change.js';

/** What a change of plan has done, or would do. */
export type ChangedPlan = {
  readonly change: PlanChange;
  readonly before: SubscriptionRow;
  readonly after: SubscriptionRow;
  /** Of the new subscription. */
  readonly lineItems: readonly LineItemRow[];
  readonly type: ChangeType;
  /** What is unused of charges in advance, rounded line by line, and where it went. */
  readonly credit: GivenCredit;
  /** What the opening invoice charges, before it takes the credit off. */
  readonly charge: Decimal;
  /** Of the old subscription, up to the change; null when it charges nothing. */
  readonly final: StoredInvoice | null;
  /** Of the new subscription; null when nothing is charged in advance. */
  readonly opening: StoredInvoice | null;
};

/**
 * Ends the old subscription, whose record is archived: the new one is what counts from now on. So
 * are those that inherit from it.
 */
async function endOld(
  unit: Unit,
  { loaded, atMs, plans, isAtPeriodEnd, request }: PlanChange,
): Promise<SubscriptionRow | Refusal> {
  const { id } = loaded.subscription;
  const children = await lockChildren(unit, [id], 'inherited');
  const isKept = !isAtPeriodEnd && request.prorationBehavior === 'none';
  if (isKept) await keepCharges(unit, loaded, atMs);
  const ended = await endSubscription(unit, loaded, {
    atMs,
    keepsGroup: true,
    ...(isAtPeriodEnd ? { endedAs: 'plan_change' as const } : {}),
    metadataOf: (metadata) => ({
      ...metadata,
      cancellation_type: isAtPeriodEnd ? 'end_of_period' : 'immediate',
      cancellation_effective_date: formatInstant(atMs),
      cancellation_reason: `changed to plan ${plans.target.id}`,
    }),
  });
  if (isRefusal(ended)) return ended;
  const after = await lockRecordsForChange(
    unit,
    SUBSCRIPTIONS,
    children.map((child) => child.id),
  );
  for (const row of after.values()) {
    const archived = await updateRecord(unit, SUBSCRIPTIONS, {
      row,
      patch: { status: 'archived' },
    });
    if (isRefusal(archived)) return archived;
  }
  return updateRecord(unit, SUBSCRIPTIONS, { row: ended, patch: { status: 'archived' } });
}

type Opened = {
  readonly after: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
  readonly opening: StoredInvoice | null;
  readonly charge: Decimal;
};

/**
 * Opens the new subscription, with its opening invoice, which takes the credit off. By its
 * payment_behavior it may wait for the payment of that, or be refused without it.
 */
async function openNew(
  unit: Unit,
  change: PlanChange,
  children: readonly SubscriptionRow[],
): Promise<Opened | Refusal> {
  const { request, loaded, group } = change;
  const stored = await storeSubscription(unit, request);
  if (isRefusal(stored)) return stored;
  const after = await regroup(unit, stored.subscription, { children, change });
  if (isRefusal(after)) return after;
  const { related } = stored;
  const { lineItems } = related;
  const kept = await keepAdjustments(unit, loaded, { row: after, lineItems });
  if (isRefusal(kept)) return kept;
  const coupons = [...related.coupons, ...kept];
  const moved = { ...stored, related: { ...related, coupons } };
  const made = await changedSince(unit, moved, after);
  const opening = await storeOpeningInvoice(unit, {
    subscription: after,
    lineItems,
    reason: 'SUBSCRIPTION_UPDATE',
    made,
    unused: change.isChargedAtOnce ? change.setOff : [],
  });
  if (isRefusal(opening)) return opening;
  const settled = await settleOpening(unit, after, { opening, reservation: null });
  if (isRefusal(settled)) return settled;
  const isWaiting = settled.subscription_status === 'incomplete';
  if (group !== null && isWaiting) return UNPAID_IN_GROUP;
  return { after: settled, lineItems, opening, charge: chargeOf(opening) };
}

/** What an opening invoice charges, before it takes a credit off. */
function chargeOf(opening: StoredInvoice | null): Decimal {
  const lines = opening === null ? [] : opening.parts.lines;
  return sumOf(lines.filter(({ kind }) => kind !== 'credit').map(({ amount }) => amount));
}

const UNPAID_IN_GROUP = new Refusal(
  'invalid_operation',
  'the first invoice of the new plan is not paid at once, and a subscription that waits for it is not renewed with its group; take it out of the group first',
);

/** What an invoice has taken off what it charges. */
function takenBy(invoice: StoredInvoice | null): readonly SetOff[] {
  const lines = invoice === null ? [] : invoice.parts.lines;
  return lines.flatMap(({ id: creditLineId, kind, amount, ...line }) => {
    const { subscription_line_item_id: lineItemId } = line;
    if (kind !== 'credit' || lineItemId === null) return [];
    return [{ creditLineId, lineItemId, amount: amount.negated() }];
  });
}

async function tellChanged(unit: Unit, row: SubscriptionRow): Promise<void> {
  const told = await toldOfSubscription(unit, row);
  announce(unit, SUBSCRIPTIONS, { id: row.id, name: 'subscription.plan_changed', told });
}

/** Whether the last invoice of the old subscription leaves commitments without their true-up. */
function isCutShort({ loaded, atMs }: PlanChange): boolean {
  const { isOwn, lineItemIds } = cutCommitments(loaded, atMs);
  return isOwn || lineItemIds.size > 0;
}

/**
 * Stores the last invoice of the old subscription. At the end of a period it is a draft, as those
 * of other periods are, so that usage which is late is still on it; but not where a commitment is
 * cut short, since a draft is computed again by its period alone.
 */
async function storeLast(
  unit: Unit,
  {
    change,
    computed,
    held,
  }: {
    readonly change: PlanChange;
    readonly computed: ComputedTask | null;
    readonly held: HeldSubscription | null;
  },
): Promise<StoredInvoice | null | Refusal> {
  if (computed === null || held === null) return null;
  // The invoice of its parent bills the last period of a grouped child (docs/domain.md 25.8).
  if (change.group?.isChild === true) return null;
  if (!change.isAtPeriodEnd || isCutShort(change)) return storeFinal(unit, computed, held);
  const { finalization_delay_seconds: delay } = await findInvoiceConfig(unit);
  const finalizeAt = change.atMs + delay * 1_000;
  const drafts = await storeDrafts(unit, [{ computed, held, finalizeAt }]);
  return isRefusal(drafts) ? drafts : (drafts[0] ?? null);
}

/** A change of plan with the last invoice of the old subscription; null where it has none. */
type ComputedChange = { readonly change: PlanChange; readonly final: ComputedTask | null };

/** Locks the subscription, its group, and the invoices that it may give back in part. */
async function lockChange(
  unit: Unit,
  { change, final }: ComputedChange,
): Promise<LockedEnding | null> {
  await lockGroup(unit, change);
  const isCredited = change.request.prorationBehavior === 'create_prorations';
  return lockEnding(unit, change, { final, isCredited });
}

/** Carries a change of plan out inside one unit (docs/domain.md 25.3). */
async function carryOut(
  unit: Unit,
  { change, final: computed }: ComputedChange,
  { row, held }: LockedEnding,
): Promise<ChangedPlan | Refusal> {
  // Read again: the invoices that it gives back in part are locked now.
  const { loaded, atMs, request } = change;
  const isProrated = request.prorationBehavior === 'create_prorations';
  const unused = isProrated ? await findUnused(unit, loaded, atMs) : [];
  const planned = await planCredits(unit, creditsOf(unused, row.currency));
  const setOff = setOffOf(unused, planned, row.currency);
  // The last invoice may take of it off.
  const final = await storeLast(unit, { change, computed, held });
  if (isRefusal(final)) return final;
  const children = await lockChildren(unit, [row.id], 'grouped_invoicing');
  // An allowance that ends with the period leaves nothing.
  const leftAllowances = change.isAtPeriodEnd
    ? new Map<string, Decimal>()
    : await findLeftAllowances(unit, computed);
  const current = { ...change, unused, setOff, request: { ...request, leftAllowances } };
  const before = await endOld(unit, current);
  if (isRefusal(before)) return before;
  const opened = await openNew(unit, current, children);
  if (isRefusal(opened)) return opened;
  const { after, opening, charge, lineItems } = opened;
  const taken = takenBy(current.isChargedAtOnce ? opening : final);
  const credit = await storeCredits(unit, planned, taken);
  if (isRefusal(credit)) return credit;
  await tellChanged(unit, after);
  return {
    change: current,
    before,
    after,
    lineItems,
    final,
    opening,
    charge,
    type: await changeTypeOfLines(unit, loaded, { atMs, lineItems }),
    credit,
  };
}

type Wanted = ChangeRequest & {
  /** What a preview has shown, which must still be so; null when there was none. */
  readonly shown: ShownChange | null;
  /** When it is, or would be, done; null for now. */
  readonly atMs: InstantMs | null;
  readonly isPreview: boolean;
};

/** Everything happens at one instant, so that no time lies between the old and the new. */
async function atOneInstant(
  dependencies: BillingDependencies,
  occasion: Occasion,
  at: InstantMs | null,
): Promise<Occasion> {
  if (at !== null) return { ...occasion, at };
  return readUnit(dependencies, occasion, ({ now }) => Promise.resolve({ ...occasion, at: now }));
}

async function run(
  dependencies: BillingDependencies,
  given: Occasion,
  { shown, atMs: at, isPreview, ...request }: Wanted,
): Promise<ChangedPlan | Refusal> {
  const occasion = await atOneInstant(dependencies, given, shown?.atMs ?? at);
  return computeThenStore<ComputedChange, LockedEnding, ChangedPlan>(dependencies, occasion, {
    what: 'the change of plan',
    compute: async () => {
      const change = await readUnit(dependencies, occasion, (unit) => readChange(unit, request));
      if (isRefusal(change)) return change;
      const { loaded, atMs, setOff, isChargedAtOnce } = change;
      const isSetOffLater = isChargedAtOnce || change.group?.isChild === true;
      const ending = { loaded, atMs, isContinued: true, unused: isSetOffLater ? [] : setOff };
      if (!isBilledUntil(ending)) return { change, final: null };
      const final = await computeFinal(dependencies, occasion, ending);
      return isRefusal(final) ? final : { change, final };
    },
    lockAndCompare: lockChange,
    store: async (unit, computed, held) => {
      const changed = await carryOut(unit, computed, held);
      if (isRefusal(changed)) return changed;
      if (isPreview) return undone(changed);
      return shown === null ? changed : (differenceFrom(shown, figuresOf(changed)) ?? changed);
    },
  });
}

/** What is asked for over HTTP. */
type Asked = Omit<ChangeRequest, 'scheduleId'>;

/** When a change is made: now, or when the running period ends; null for now. */
async function instantOf(
  dependencies: BillingDependencies,
  occasion: Occasion,
  { target, body }: Asked,
): Promise<InstantMs | null | Refusal> {
  if (body.change_at !== 'end_of_period') return null;
  return readUnit(dependencies, occasion, async (unit) => {
    const row = await readRecord(unit, SUBSCRIPTIONS, target.id);
    return isRefusal(row) ? row : row.current_period_end;
  });
}

/**
 * POST /subscriptions/{id}/change/preview: carries the change out in a transaction that is rolled
 * back, so that what it shows is what executing it does.
 */
export async function previewChange(
  dependencies: BillingDependencies,
  occasion: Occasion,
  asked: Asked,
): Promise<ChangedPlan | Refusal> {
  const atMs = await instantOf(dependencies, occasion, asked);
  if (isRefusal(atMs)) return atMs;
  const wanted = { ...asked, scheduleId: null, shown: null, atMs, isPreview: true };
  return resultOf(await run(dependencies, occasion, wanted));
}

/**
 * POST /subscriptions/{id}/change/execute: the old subscription is billed up to now and cancelled,
 * a new one begins on the target plan, and what is unused of charges in advance is set off
 * (docs/domain.md 25.3). All of it happens, or nothing.
 */
export async function executeChange(
  dependencies: BillingDependencies,
  occasion: Occasion,
  asked: Asked,
): Promise<ChangedPlan | Refusal> {
  const { preview_token: token } = asked.body;
  const wanted = { ...asked, scheduleId: null, shown: null, atMs: null, isPreview: false };
  if (token === undefined) return run(dependencies, occasion, wanted);
  const now = await readUnit(dependencies, occasion, (unit) => Promise.resolve(unit.now));
  const shown = readToken(token, now);
  if (isRefusal(shown)) return shown;
  return run(dependencies, occasion, { ...wanted, shown });
}

/** Carries out a change that waited for the end of a period, as of that instant (25.5). */
export function executeScheduledChange(
  dependencies: BillingDependencies,
  occasion: Occasion,
  request: ChangeRequest & { readonly atMs: InstantMs },
): Promise<ChangedPlan | Refusal> {
  return run(dependencies, occasion, { ...request, shown: null, isPreview: false });
}
