import type { InstantMs } from '../../../contract/instant.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import { resolveBillingAnchor } from '../../domain/calendar/billing-boundaries.js';
import { openLedger } from '../../domain/periods/ledger-rows.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { NewSubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** The ledger of the new subscription, with its first period. */
export function ledgerOfCommand(
  command: SubscriptionCommand,
  customer: CustomerRow,
  now: InstantMs,
): PeriodLedger {
  const { billingCycle, billingPeriod } = command;
  const timezone = command.customerTimezone ?? customer.timezone ?? 'UTC';
  const startMs = command.startMs ?? now;
  const terms = {
    billingCadence: command.billingCadence,
    billingCycle,
    billingPeriod,
    billingPeriodCount: command.billingPeriodCount,
    timezone,
    endMs: command.endMs,
  };
  const billingAnchorMs = resolveBillingAnchor({
    billingCycle,
    billingPeriod,
    startMs,
    billingAnchorMs: command.billingAnchorMs,
    timezone,
  });
  return openLedger(terms, { startMs, billingAnchorMs, trialEndMs: null });
}

/** The row of a new, active subscription. */
export function newSubscriptionRow(
  command: SubscriptionCommand,
  { customer, plan }: { readonly customer: CustomerRow; readonly plan: PlanRow },
  ledger: PeriodLedger,
): NewSubscriptionRow {
  const [period] = ledger.periods;
  return {
    ...command.passthrough,
    customer_id: customer.id,
    invoicing_customer_id: null,
    plan_id: plan.id,
    parent_subscription_id: null,
    subscription_status: 'active',
    subscription_type: 'standalone',
    currency: command.currency,
    billing_cadence: ledger.billingCadence,
    billing_cycle: ledger.billingCycle,
    billing_period: ledger.billingPeriod,
    billing_period_count: ledger.billingPeriodCount,
    billing_anchor: period.anchor.atMs,
    start_date: period.startMs,
    end_date: command.endMs,
    current_period_start: period.startMs,
    current_period_end: period.endMs,
    customer_timezone: ledger.timezone,
    auto_invoice_threshold: null,
    proration_behavior: command.prorationBehavior,
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
