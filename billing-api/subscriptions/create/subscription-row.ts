import type { InstantMs } from '../../../contract/instant.js';
import type { PlanRow } from '../../catalog/plans/plan.resource.js';
import type { CustomerRow } from '../../customers/customer.resource.js';
import { firstPeriod, resolveBillingAnchor } from '../../domain/calendar/billing-periods.js';
import type { SubscriptionTerms } from '../../domain/invoice/subscription-terms.js';
import type { NewSubscriptionRow } from '../subscription.resource.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** What decides the periods and charges of the new subscription. */
export function termsOfCommand(
  command: SubscriptionCommand,
  customer: CustomerRow,
  now: InstantMs,
): SubscriptionTerms {
  const { billingCycle, billingPeriod } = command;
  const timezone = command.customerTimezone ?? customer.timezone ?? 'UTC';
  const startMs = command.startMs ?? now;
  return {
    currency: command.currency,
    billingCadence: command.billingCadence,
    billingCycle,
    billingPeriod,
    billingPeriodCount: command.billingPeriodCount,
    billingAnchorMs: resolveBillingAnchor({
      billingCycle,
      billingPeriod,
      startMs,
      billingAnchorMs: command.billingAnchorMs,
      timezone,
    }),
    timezone,
    startMs,
    endMs: command.endMs,
    trialEndMs: null,
    prorationBehavior: command.prorationBehavior,
    commitment: null,
  };
}

/** The row of a new, active subscription. */
export function newSubscriptionRow(
  command: SubscriptionCommand,
  { customer, plan }: { readonly customer: CustomerRow; readonly plan: PlanRow },
  terms: SubscriptionTerms,
): NewSubscriptionRow {
  const period = firstPeriod(terms);
  return {
    ...command.passthrough,
    customer_id: customer.id,
    invoicing_customer_id: null,
    plan_id: plan.id,
    parent_subscription_id: null,
    subscription_status: 'active',
    subscription_type: 'standalone',
    currency: terms.currency,
    billing_cadence: terms.billingCadence,
    billing_cycle: terms.billingCycle,
    billing_period: terms.billingPeriod,
    billing_period_count: terms.billingPeriodCount,
    billing_anchor: terms.billingAnchorMs,
    start_date: terms.startMs,
    end_date: command.endMs,
    current_period_start: period.startMs,
    current_period_end: period.endMs,
    customer_timezone: terms.timezone,
    auto_invoice_threshold: null,
    proration_behavior: terms.prorationBehavior,
    synced_price_sequence: plan.price_sequence,
    cancel_at: null,
    cancel_at_period_end: false,
    cancelled_at: null,
    trial_start: null,
    trial_end: null,
    pause_status: 'none',
    active_pause_id: null,
    version: 1,
  };
}
