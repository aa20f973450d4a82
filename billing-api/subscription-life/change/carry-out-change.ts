import { sumOf, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { mustGet, zip } from '../../../runtime/failure.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { ChangeType } from '../../domain/settlement/change-type.js';
import { updateRecord } from '../../records/change-record.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import { announce } from '../../records/recorded-change.js';
import { accept, Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { lockChildren, type ChildType } from '../../subscriptions/children-store.js';
import { refuseBefore } from '../../subscriptions/schedules-store.js';
import { toldWith } from '../../subscriptions/subscription-events.js';
import { endSubscription } from '../cancel/end-subscription.js';
import { lockEnding, type LockedEnding } from '../cancel/lock-ending.js';
import type { ComputedEnding } from '../cancel/final-invoice.js';
import { lockCustomers } from '../groups/inherit.js';
import { changedSince, type MadeSubscription } from '../open/made-subscription.js';
import { computeOpening } from '../open/opening-invoice.js';
import type { OpeningTerms } from '../open/opening-terms.js';
import { storeSubscription } from '../open/store-subscription.js';
import { settleOpening } from '../open/settle-opening.js';
import { creditsOf, setOffOf } from '../settle/credit-lines.js';
import { findUnused, type UnusedItem } from '../settle/find-unused.js';
import { planCredits } from '../settle/plan-credits.js';
import { storeCredits, type GivenCredit, type SetOff } from '../settle/store-credits.js';
import { cutCommitments } from '../../invoicing/drafts/cut-commitments.js';
import type { NewDraft, StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import { isCharged, storeInvoices } from '../../invoicing/finalize/store-invoices.js';
import { changeTypeOfLines } from './change-type-of-lines.js';
import { ownersAfter } from './group-of-change.js';
import { findLeftAllowances } from './left-allowances.js';
import { keepAdjustments } from './keep-adjustments.js';
import { lockGroup, regroup } from './regroup.js';
import { isChildOf, type PlanChange } from './read-change.js';
import { withAllowances } from './terms-of-change.js';

/** What a change of plan has done, or would do. */
export type ChangedPlan = {
  readonly change: PlanChange;
  readonly plans: { readonly current: PlanRow; readonly target: PlanRow };
  readonly before: SubscriptionRow;
  readonly after: SubscriptionRow;
  /** Of the new subscription. */
  readonly lineItems: readonly LineItemRow[];
  readonly type: ChangeType;
  /** What is unused of charges in advance; nothing without prorations. */
  readonly unused: readonly UnusedItem[];
  /** Its sum, rounded line by line, and where it went. */
  readonly credit: GivenCredit;
  /** What the opening invoice charges, before it takes the credit off. */
  readonly charge: Decimal;
  /** Of the old subscription, up to the change; null when it charges nothing. */
  readonly final: StoredInvoice | null;
  /** Of the new subscription; null when nothing is charged in advance. */
  readonly opening: StoredInvoice | null;
};

/** A change of plan with the last invoice of the old subscription; null where it has none. */
export type ComputedChange = ComputedEnding<PlanChange>;

const isProrated = ({ terms }: PlanChange): boolean => terms.prorationBehavior !== 'none';

/** Locks the subscription, its group, and the invoices that it may give back in part. */
export async function lockChange(
  unit: Unit,
  { ending: change, final }: ComputedChange,
): Promise<LockedEnding | null> {
  await lockGroup(unit, change);
  const locked = await lockEnding(unit, change, { final, isCredited: isProrated(change) });
  refuseBefore(locked?.pending ?? null, change.scheduleId);
  return locked;
}

/** The children of a parent that are not cancelled, locked. */
const childrenOf = async (unit: Unit, row: SubscriptionRow, type: ChildType) =>
  row.subscription_type === 'parent' ? lockChildren(unit, [row.id], type) : [];

/**
 * Ends the old subscription, whose record is archived: the new one is what counts from now on. So
 * are those that inherit from it.
 */
async function endOld(
  unit: Unit,
  change: PlanChange,
  locked: LockedEnding,
): Promise<SubscriptionRow> {
  const { loaded, atMs, isAtPeriodEnd, terms } = change;
  const children = await childrenOf(unit, locked.row, 'inherited');
  const ended = await endSubscription(unit, {
    loaded,
    atMs,
    locked,
    staysCharged: !isAtPeriodEnd && !isProrated(change),
    endedAs: isAtPeriodEnd ? 'plan_change' : null,
    isReplaced: true,
    metadataOf: (metadata) => ({
      ...metadata,
      cancellation_type: isAtPeriodEnd ? 'end_of_period' : 'immediate',
      cancellation_effective_date: formatInstant(atMs),
      cancellation_reason: `changed to plan ${terms.planId}`,
    }),
  });
  const after = await lockRecordsForChange(
    unit,
    SUBSCRIPTIONS,
    children.map(({ id }) => id),
  );
  for (const row of after.values()) {
    await updateRecord(unit, SUBSCRIPTIONS, {
      row,
      patch: { status: 'archived' },
    });
  }
  return ended;
}

/** The old subscription with its final invoice, which is null where a parent bills its end. */
function lastOf({ ending: { group, loaded }, final }: ComputedChange) {
  return { loaded, final: isChildOf(group) ? null : final };
}

/** Opens the new subscription in the place of the old one, with what it keeps of that. */
async function openNew(
  unit: Unit,
  computed: ComputedChange,
  { terms, children }: { terms: OpeningTerms; children: readonly SubscriptionRow[] },
): Promise<MadeSubscription> {
  const { ending: change } = computed;
  const heirs = await lockCustomers(unit, change.heirs);
  const owners = { ...ownersAfter(change.group, change.loaded), heirs };
  const stored = await storeSubscription(unit, terms, owners);
  const after = await regroup(unit, stored.subscription, { children, change });
  const { related } = stored;
  const { lineItems } = related;
  const kept = await keepAdjustments(unit, lastOf(computed), { row: after, lineItems });
  const known = { ...stored.known, taxes: kept.taxes };
  const made = { ...stored, known, related: { ...related, coupons: kept.coupons } };
  return changedSince(unit, made, after);
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

/** Whether the last invoice of the old subscription leaves commitments without their true-up. */
function isCutShort({ loaded, atMs }: PlanChange): boolean {
  const { isOwn, lineItemIds } = cutCommitments(loaded, atMs);
  return isOwn || lineItemIds.size > 0;
}

/**
 * The last invoice of the old subscription as it is stored. At the end of a period it is a draft,
 * as those of other periods are, so that usage which is late is still on it; but not where a
 * commitment is cut short, since a draft is computed again by its period alone. Null where there
 * is none, or where a parent bills the last period of a grouped child (docs/domain.md 25.8).
 */
function lastInvoice(computed: ComputedChange, { held }: LockedEnding): NewDraft | null {
  const { final } = lastOf(computed);
  const { ending: change } = computed;
  if (final === null || held === null) return null;
  const { finalization_delay_seconds: delay } = final.query.config;
  const isDraft = change.isAtPeriodEnd && !isCutShort(change);
  return { computed: final, held, finalizeAt: isDraft ? change.atMs + delay * 1_000 : null };
}

/** The last invoice of the old subscription and the first one of the new, stored together. */
async function storeBoth(
  unit: Unit,
  computed: ComputedChange,
  {
    locked,
    made,
    setOff,
  }: { locked: LockedEnding; made: MadeSubscription; setOff: readonly UnusedItem[] },
): Promise<Pick<ChangedPlan, 'final' | 'opening'>> {
  const last = lastInvoice(computed, locked);
  const { subscription, related } = made;
  const first = await computeOpening(
    unit,
    {
      subscription,
      lineItems: related.lineItems,
      reason: 'SUBSCRIPTION_UPDATE',
      made,
      unused: computed.ending.isChargedAtOnce ? setOff : [],
    },
    last?.computed.query.config,
  );
  const drafts = [last, first].filter((draft) => draft !== null);
  const stored = await storeInvoices(unit, drafts);
  const invoices = new Map(zip(drafts, stored));
  const storedAs = (draft: NewDraft | null) =>
    draft === null ? null : mustGet(invoices, draft, 'a stored invoice');
  const final = storedAs(last);
  return { final: final !== null && isCharged(final) ? final : null, opening: storedAs(first) };
}

/** The new subscription after its opening invoice, which may have to be paid first. */
async function settleNew(
  unit: Unit,
  { group }: PlanChange,
  { made, opening }: { readonly made: MadeSubscription; readonly opening: StoredInvoice | null },
): Promise<SubscriptionRow> {
  const settled = await settleOpening(unit, made.subscription, { opening, reservation: null });
  const isWaiting = settled.subscription_status === 'incomplete';
  return accept(group !== null && isWaiting ? UNPAID_IN_GROUP : settled);
}

/** Carries a change of plan out inside one unit (docs/domain.md 25.3). */
export async function carryOut(
  unit: Unit,
  computed: ComputedChange,
  locked: LockedEnding,
): Promise<ChangedPlan> {
  const { ending: change } = computed;
  const { row } = locked;
  const { loaded, atMs } = change;
  const unused = isProrated(change) ? await findUnused(unit, loaded, atMs) : [];
  const planned = await planCredits(unit, creditsOf(unused, row.currency));
  const setOff = setOffOf(unused, planned, row.currency);
  const children = await childrenOf(unit, row, 'grouped_invoicing');
  // An allowance that ends with the period leaves nothing.
  const terms = change.isAtPeriodEnd
    ? change.terms
    : withAllowances(change.terms, await findLeftAllowances(unit, computed.final));
  const before = await endOld(unit, change, locked);
  const made = await openNew(unit, computed, { terms, children });
  const invoices = await storeBoth(unit, computed, { locked, made, setOff });
  const { final, opening } = invoices;
  const after = await settleNew(unit, change, { made, opening });
  const taken = takenBy(change.isChargedAtOnce ? opening : final);
  const credit = await storeCredits(unit, planned, taken);
  const told = toldWith(after, mustGet(made.related.customers, after.customer_id, 'the customer'));
  announce(unit, SUBSCRIPTIONS, { id: after.id, name: 'subscription.plan_changed', told });
  return {
    change,
    plans: {
      current: change.plan,
      target: mustGet(made.related.plans, after.plan_id, 'the plan'),
    },
    before,
    after,
    lineItems: made.related.lineItems,
    final,
    opening,
    unused,
    charge: chargeOf(opening),
    type: changeTypeOfLines(loaded, made.related, atMs),
    credit,
  };
}
