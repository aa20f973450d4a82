import type { InstantMs } from '../../../contract/instant.js';
import type { AnsweredCustomerRow } from '../../declarations/customers/customer.resource.js';
import type { NewSubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { resolveBillingAnchor } from '../../domain/calendar/billing-boundaries.js';
import { openLedger } from '../../domain/periods/ledger-rows.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { OpeningTerms, Owners } from './opening-terms.js';

/** The time zone of a subscription (docs/domain.md 12.6). */
export function timezoneOf(
  { customerTimezone }: OpeningTerms,
  customer: AnsweredCustomerRow,
): string {
  return customerTimezone ?? customer.timezone ?? 'UTC';
}

/** The ledger of the new subscription, with its first period. */
export function newLedger(
  { startMs, billingAnchorMs: givenMs, ...terms }: OpeningTerms,
  { timezone, trialEndMs }: { readonly timezone: string; readonly trialEndMs: InstantMs | null },
): PeriodLedger {
  const { billingCadence, billingCycle, billingPeriod, billingPeriodCount, endMs } = terms;
  const every = { billingCycle, billingPeriod, timezone };
  const billingAnchorMs = resolveBillingAnchor({ ...every, startMs, billingAnchorMs: givenMs });
  const recurs = { ...every, billingCadence, billingPeriodCount, endMs };
  return openLedger(recurs, { startMs, billingAnchorMs, trialEndMs });
}

/** Where a commitment that goes on began; nothing for one that begins. */
function commitmentColumns({ continues }: OpeningTerms) {
  const commitment = continues?.commitment ?? null;
  if (commitment === null) return { commitment_start: null, commitment_origin_id: null };
  return { commitment_start: commitment.startMs, commitment_origin_id: commitment.originId };
}

/** The row of a new subscription. */
export function newRow(
  terms: OpeningTerms,
  { customer, payer, plan }: Pick<Owners, 'customer' | 'payer'> & { readonly plan: PlanRow },
  ledger: PeriodLedger,
): NewSubscriptionRow {
  const [period] = ledger.periods;
  const isTrial = period.kind === 'trial';
  const { begins } = terms;
  return {
    ...terms.kept,
    ...commitmentColumns(terms),
    customer_id: customer.id,
    invoicing_customer_id: payer?.id ?? null,
    plan_id: plan.id,
    parent_subscription_id: null,
    subscription_status: isTrial && begins !== 'draft' ? 'trialing' : begins,
    subscription_type: payer === null ? 'standalone' : 'delegated_invoicing',
    currency: terms.currency,
    billing_cadence: ledger.billingCadence,
    billing_cycle: ledger.billingCycle,
    billing_period: ledger.billingPeriod,
    billing_period_count: ledger.billingPeriodCount,
    billing_anchor: period.anchor.atMs,
    start_date: period.startMs,
    end_date: terms.endMs,
    current_period_start: period.startMs,
    current_period_end: period.endMs,
    customer_timezone: ledger.timezone,
    proration_behavior: terms.prorationBehavior,
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
