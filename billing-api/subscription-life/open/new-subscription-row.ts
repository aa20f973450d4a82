import type { InstantMs } from '../../../contract/instant.js';
import type { AnsweredCustomerRow } from '../../declarations/customers/customer.resource.js';
import type { NewSubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { resolveBillingAnchor } from '../../domain/calendar/billing-boundaries.js';
import { openLedger } from '../../domain/periods/ledger-rows.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { CustomerAndPlan } from './hold-customer-and-plan.js';
import type { SubscriptionRequest } from './subscription-request.js';

/** The time zone of a subscription (docs/domain.md 12.6). */
export function timezoneOf(
  { customerTimezone }: SubscriptionRequest,
  customer: AnsweredCustomerRow,
): string {
  return customerTimezone ?? customer.timezone ?? 'UTC';
}

/** The ledger of the new subscription, with its first period. */
export function newLedger(
  request: SubscriptionRequest,
  customer: AnsweredCustomerRow,
  { now, trialEndMs }: { readonly now: InstantMs; readonly trialEndMs: InstantMs | null },
): PeriodLedger {
  const { billingCycle, billingPeriod } = request;
  const timezone = timezoneOf(request, customer);
  const startMs = request.startMs ?? now;
  const terms = {
    billingCadence: request.billingCadence,
    billingCycle,
    billingPeriod,
    billingPeriodCount: request.billingPeriodCount,
    timezone,
    endMs: request.endMs,
  };
  const billingAnchorMs = resolveBillingAnchor({
    billingCycle,
    billingPeriod,
    startMs,
    billingAnchorMs: request.billingAnchorMs,
    timezone,
  });
  return openLedger(terms, { startMs, billingAnchorMs, trialEndMs });
}

/** Where a commitment that goes on began; nothing for one that begins. */
function commitmentColumns({ commitmentFrom = null }: SubscriptionRequest) {
  if (commitmentFrom === null) return { commitment_start: null, commitment_origin_id: null };
  const { startMs, originId } = commitmentFrom;
  return { commitment_start: startMs, commitment_origin_id: originId };
}

/** The row of a new subscription. */
export function newRow(
  request: SubscriptionRequest,
  { customer, payer, plan }: CustomerAndPlan,
  ledger: PeriodLedger,
): NewSubscriptionRow {
  const [period] = ledger.periods;
  const isTrial = period.kind === 'trial';
  const waiting = request.isIncomplete ? ('incomplete' as const) : ('active' as const);
  const begun = isTrial ? ('trialing' as const) : waiting;
  return {
    ...request.kept,
    ...commitmentColumns(request),
    customer_id: customer.id,
    invoicing_customer_id: payer?.id ?? null,
    plan_id: plan.id,
    parent_subscription_id: null,
    subscription_status: request.isDraft ? 'draft' : begun,
    subscription_type: payer === null ? 'standalone' : 'delegated_invoicing',
    currency: request.currency,
    billing_cadence: ledger.billingCadence,
    billing_cycle: ledger.billingCycle,
    billing_period: ledger.billingPeriod,
    billing_period_count: ledger.billingPeriodCount,
    billing_anchor: period.anchor.atMs,
    start_date: period.startMs,
    end_date: request.endMs,
    current_period_start: period.startMs,
    current_period_end: period.endMs,
    customer_timezone: ledger.timezone,
    proration_behavior: request.prorationBehavior,
    synced_price_sequence: plan.price_sequence,
    cancel_at: null,
    cancel_at_period_end: false,
    cancelled_at: null,
    trial_start: isTrial ? period.startMs : null,
    trial_end: isTrial ? period.endMs : null,
    pause_status: 'none',
    active_pause_id: null,
    version: 1,
  };
}
