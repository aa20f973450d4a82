import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { noRows } from '../../../sql/columns.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { billedFromMs, periodAt } from '../../domain/periods/ledger-periods.js';
import { lastRecorded, type PeriodLedger } from '../../domain/periods/period-ledger.js';
import { updateRecord } from '../../records/change-record.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { moveAddonEnds } from '../../subscriptions/addon-associations-store.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { refusePending } from '../../subscriptions/schedules-store.js';
import { replaceLastPeriod } from '../../subscriptions/periods/periods-store.js';
import { withChildren } from '../../subscriptions/follow-parent.js';
import { refuseGrouped } from '../groups/refuse-grouped.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import { computeWithoutUsage } from '../../invoicing/compute/compute-invoice.js';
import { tasksAfterTrials } from '../renew/trial-tasks.js';
import { renewSubscriptions } from '../renew/renew-subscriptions.js';
import {
  findInvoiceQueries,
  type StoredQuery,
} from '../../invoicing/drafts/find-invoice-queries.js';
import type { StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import type { TrialEndParamsBody } from './modify-dto.js';

/** A subscription whose trial ends at another instant, with the invoice of its first period. */
export type MovedTrial = {
  readonly subscription: SubscriptionRow;
  /** Null while the trial goes on, and where the first period costs nothing in advance. */
  readonly invoice: StoredInvoice | null;
};

function endOf(
  unit: Unit,
  { end_date: endDate }: SubscriptionRow,
  { action, new_trial_end: text }: TrialEndParamsBody,
): InstantMs {
  const reader = new MemberReader();
  const member = 'trial_end_params.new_trial_end';
  const given = reader.instant(member, text);
  if (action === 'immediate') {
    if (text !== undefined) reader.note(member, 'must be left out with action immediate');
    return accept(reader.refusal() ?? unit.now);
  }
  if (given === null || given <= unit.now) reader.note(member, 'must be given, and in the future');
  else if (endDate !== null && given > endDate) {
    reader.note(member, 'must not be later than the end of the subscription');
  }
  return accept(reader.refusal() ?? assertPresent(given, 'the end of a trial'));
}

/** Credits that begin with the billing begin where the trial ends now. */
async function moveGrants(
  { tx }: Unit,
  id: string,
  { from, to }: { readonly from: InstantMs; readonly to: InstantMs },
): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE credit_grants SET start_date = ${formatInstant(to)}::timestamptz
    WHERE subscription_id = ${id} AND start_date = ${formatInstant(from)}::timestamptz
      AND next_application_at IS NULL AND ${isOfEnvironment}`);
}

/** Where the first billed period ends; null where the subscription ends with its trial. */
function endOfFirst(ledger: PeriodLedger): InstantMs | null {
  return periodAt(ledger, billedFromMs(ledger))?.endMs ?? null;
}

/** Onetime addons end with the first billed period, wherever that is now (docs/domain.md 27). */
async function moveAddons(unit: Unit, id: string, before: PeriodLedger): Promise<void> {
  const loaded = await loadBilledSubscription(unit, id);
  const [fromMs, toMs] = [endOfFirst(before), endOfFirst(loaded.terms)];
  if (fromMs !== null && toMs !== null) await moveAddonEnds(unit, id, { fromMs, toMs });
}

/** Begins the first period of a subscription whose trial has just ended. */
async function activate(unit: Unit, id: string): Promise<StoredInvoice | null> {
  const tasks = [...(await tasksAfterTrials(unit, [id])).values()];
  // It ends with its trial, and the billing job ends it.
  if (tasks.length === 0) return null;
  const queries: readonly (StoredQuery | Refusal)[] = await findInvoiceQueries(unit, tasks);
  const [computed] = await computeWithoutUsage(unit, queries);
  const invoice = accept(assertPresent(computed, 'the invoice of the first period'));
  const renewed = await renewSubscriptions(unit, [invoice]);
  return renewed[0] ?? null;
}

/** Why the trial of a subscription cannot be moved; null when it can. */
function stateRefusal({ subscription_status: status, cancel_at: cancelAt }: SubscriptionRow) {
  if (status === 'trialing' && cancelAt === null) return null;
  const problem = status === 'trialing' ? 'is about to be cancelled' : `is ${status}, not trialing`;
  return new Refusal('invalid_operation', `the subscription ${problem}; its trial is not moved`);
}

/** @throws Refused when its state or hierarchy keeps the trial of a subscription where it is. */
async function refuseMove(unit: Unit, row: SubscriptionRow): Promise<void> {
  accept(refuseInherited(row, 'has the trial of its parent') ?? stateRefusal(row));
  await refuseGrouped(unit, row);
}

/** Moves the recorded trial, and what begins or ends with it. */
async function moveRecordedTrial(
  unit: Unit,
  { subscription: row, terms }: BilledSubscription,
  atMs: InstantMs,
): Promise<SubscriptionRow> {
  const { id } = row;
  const trial = lastRecorded(terms);
  await replaceLastPeriod(unit, { subscriptionId: id, period: { ...trial, endMs: atMs } });
  await moveGrants(unit, id, { from: trial.endMs, to: atMs });
  const patch = { trial_end: atMs, current_period_end: atMs };
  const moved = await withChildren(unit, await updateRecord(unit, SUBSCRIPTIONS, { row, patch }));
  await moveAddons(unit, id, terms);
  return moved;
}

/** Moves the end of the trial of a subscription, to now or to a later date (22.4). */
export async function moveTrialEnd(
  unit: Unit,
  id: string,
  params: TrialEndParamsBody,
): Promise<MovedTrial> {
  const row = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (row?.status !== 'published') throw new Refused(notFound(SUBSCRIPTIONS.name, id));
  await refuseMove(unit, row);
  await refusePending(unit, id);
  const atMs = endOf(unit, row, params);
  const loaded = await loadBilledSubscription(unit, id);
  const moved = await moveRecordedTrial(unit, loaded, atMs);
  await announceUpdated(unit, moved);
  if (params.action === 'scheduled_date') return { subscription: moved, invoice: null };
  const invoice = await activate(unit, id);
  const after = await lockRecord(unit, SUBSCRIPTIONS, id);
  return { subscription: assertPresent(after, 'the subscription'), invoice };
}
