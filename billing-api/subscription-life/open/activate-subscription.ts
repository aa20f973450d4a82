import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import { ADDON_ASSOCIATIONS } from '../../declarations/subscriptions/addon-association.resource.js';
import { COUPON_ASSOCIATIONS } from '../../declarations/coupons/coupon-association.resource.js';
import { CREDIT_GRANTS } from '../../declarations/credit-grants/credit-grant.resource.js';
import { ENTITLEMENTS } from '../../declarations/entitlements/entitlement.resource.js';
import { LINE_ITEMS } from '../../declarations/subscriptions/line-item.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { resolveBillingAnchor } from '../../domain/calendar/billing-boundaries.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { openLedger } from '../../domain/periods/ledger-rows.js';
import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';
import type { ChangeTarget } from '../../records/change-record.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import { moveRecord } from '../../records/move-record.js';
import type { Occasion } from '../../records/occasion.js';
import type { DateTime } from '../../records/record-dto.js';
import { accept, invalid, Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { LoadedSubscription } from '../../subscriptions/loaded-subscription.js';
import { insertPeriods } from '../../subscriptions/periods/periods-store.js';
import { findRelatedRecords } from '../../subscriptions/related-records.js';
import { begunAs, toldWhenBegun } from '../../subscriptions/begun-as.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { storeOpeningInvoice } from './opening-invoice.js';
import { withFirstPayment } from './reserve-first.js';
import { settleOpening } from './settle-opening.js';
import { movedTrialEnd } from './trial.js';

/** @example {"start_date": "2026-02-01T00:00:00Z"} */
export interface ActivateSubscriptionBody {
  /** From which instant on it runs, and is charged. */
  start_date: DateTime;
}

/** The trial of a draft is as long wherever it begins. */
function trialEndOf(row: SubscriptionRow, toMs: InstantMs): InstantMs | null {
  const { trial_start: startMs, trial_end: endMs, customer_timezone: timezone } = row;
  if (startMs === null || endMs === null) return null;
  return movedTrialEnd({ startMs, endMs }, { toMs, timezone });
}

/** The first period of a draft that begins at an instant. */
function firstPeriodFrom(row: SubscriptionRow, startMs: InstantMs): LedgerPeriod {
  const { billing_cycle: billingCycle, customer_timezone: timezone } = row;
  const { billing_period: billingPeriod, billing_cadence: billingCadence } = row;
  const anchor = { billingCycle, billingPeriod, startMs, billingAnchorMs: null, timezone };
  const terms = {
    billingCadence,
    billingCycle,
    billingPeriod,
    timezone,
    endMs: row.end_date,
    billingPeriodCount: row.billing_period_count,
  };
  const billingAnchorMs = resolveBillingAnchor(anchor);
  return openLedger(terms, { startMs, billingAnchorMs, trialEndMs: trialEndOf(row, startMs) })
    .periods[0];
}

/** What belongs to a subscription and begins with it, and the column that names that. */
const PARTS = [
  ...[LINE_ITEMS, ADDON_ASSOCIATIONS, COUPON_ASSOCIATIONS, CREDIT_GRANTS].map(({ table }) => ({
    table,
    owner: 'subscription_id',
  })),
  { table: ENTITLEMENTS.table, owner: 'entity_id' },
];

/** Moves what began with a draft to the instant at which it begins now. */
async function movePartsTo(
  { tx }: Unit,
  { id, start_date: before, trial_end: trialEnd }: SubscriptionRow,
  startMs: InstantMs,
): Promise<void> {
  const [from, to] = [formatInstant(before), formatInstant(startMs)];
  for (const { table, owner } of PARTS) {
    await tx.query(sql.type(noRows)`
      UPDATE ${sql.identifier([table])} SET start_date = ${to}::timestamptz
      WHERE ${sql.identifier([owner])} = ${id} AND start_date = ${from}::timestamptz
        AND (end_date IS NULL OR end_date > ${to}::timestamptz) AND ${isOfEnvironment}`);
  }
  if (trialEnd !== null) {
    await tx.query(sql.type(noRows)`
      UPDATE credit_grants
      SET start_date = start_date + (${to}::timestamptz - ${from}::timestamptz)
      WHERE subscription_id = ${id} AND start_date = ${formatInstant(trialEnd)}::timestamptz
        AND ${isOfEnvironment}`);
  }
  await tx.query(sql.type(noRows)`
    UPDATE credit_grants SET next_application_at = NULL,
      credit_grant_anchor = CASE WHEN credit_grant_anchor = ${from}::timestamptz
        THEN ${to}::timestamptz ELSE credit_grant_anchor END
    WHERE subscription_id = ${id} AND ${isOfEnvironment}`);
}

/** Puts the first period of a draft in the place of the one that was planned. */
async function replacePeriods(unit: Unit, id: string, period: LedgerPeriod): Promise<void> {
  await unit.tx.query(sql.type(noRows)`
    DELETE FROM subscription_periods WHERE subscription_id = ${id} AND ${isOfEnvironment}`);
  await insertPeriods(unit, [{ subscriptionId: id, period }]);
}

async function begin(
  unit: Unit,
  target: ChangeTarget,
  startMs: InstantMs,
): Promise<SubscriptionRow> {
  return moveRecord(unit, SUBSCRIPTIONS, {
    target,
    lifecycle: SUBSCRIPTION,
    move: 'activate',
    to: (row) => (row.trial_end === null ? begunAs(row) : 'trialing'),
    patch: async (row) => {
      if (row.subscription_status !== 'draft') {
        const problem = `the subscription is ${row.subscription_status}; only a draft is activated so`;
        return new Refusal('invalid_operation', problem);
      }
      if (row.end_date !== null && row.end_date <= startMs) {
        return invalid({ start_date: 'must be earlier than end_date of the subscription' });
      }
      const period = firstPeriodFrom(row, startMs);
      await movePartsTo(unit, row, startMs);
      await replacePeriods(unit, row.id, period);
      const isTrial = period.kind === 'trial';
      return {
        ...(isTrial ? { trial_start: period.startMs, trial_end: period.endMs } : {}),
        start_date: startMs,
        billing_anchor: period.anchor.atMs,
        current_period_start: period.startMs,
        current_period_end: period.endMs,
      };
    },
    told: (after) => toldWhenBegun(unit, after),
  });
}

/**
 * POST /subscriptions/{id}/activate: a draft begins at an instant, as if it had been created with
 * it: its periods, what belongs to it, and its opening invoice (docs/domain.md 22.3).
 */
export function activateSubscription(
  needs: GatewayNeeds,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ActivateSubscriptionBody },
): Promise<LoadedSubscription | Refusal> {
  return withFirstPayment(needs, occasion, async (unit, reservation) => {
    const reader = new MemberReader();
    const startMs = reader.instant('start_date', body.start_date) ?? unit.now;
    accept(reader.refusal());
    const subscription = await begin(unit, target, startMs);
    const related = await findRelatedRecords(unit.tx, [subscription]);
    const { lineItems } = related;
    const opening = await storeOpeningInvoice(unit, { subscription, lineItems });
    const settled = await settleOpening(unit, subscription, { opening, reservation });
    return { subscription: settled, related, latestInvoice: opening?.row ?? null };
  });
}
