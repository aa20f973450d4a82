import type {
  BillingCadence,
  BillingCycle,
  BillingPeriod,
} from '../../domain/calendar/billing-grid.js';
import {
  SUBSCRIPTION,
  type SUBSCRIPTION_STATES,
} from '../../domain/lifecycle/subscription-lifecycle.js';
import type { ProrationBehavior } from '../../domain/calendar/proration.js';
import { givenLateUsage, type LateUsageRulesDto } from '../platform/late-usage-rules.js';
import { RECURRING_PERIODS } from '../../domain/price/price-cadence.js';
import {
  decimal,
  flag,
  hidden,
  instant,
  integer,
  json,
  nullable,
  oneOf,
  raisedByChange,
  text,
} from '../../records/columns.js';
import type { Currency, DateTime, DecimalText, RecordDto } from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';

export type SubscriptionStatus = (typeof SUBSCRIPTION_STATES)[number];

const SUBSCRIPTION_TYPES = [
  'standalone',
  'delegated_invoicing',
  'parent',
  'inherited',
  'grouped_invoicing',
] as const;
export type SubscriptionType = (typeof SUBSCRIPTION_TYPES)[number];

const PAUSE_STATUSES = ['none', 'active', 'scheduled', 'completed', 'cancelled'] as const;
export type PauseStatus = (typeof PAUSE_STATUSES)[number];

export const SUBSCRIPTIONS = defineResource({
  name: 'subscription',
  idPrefix: 'subs',
  table: 'subscriptions',
  columns: {
    customer_id: text,
    invoicing_customer_id: nullable(text),
    plan_id: text,
    parent_subscription_id: nullable(text),
    lookup_key: nullable(text),
    subscription_status: oneOf(SUBSCRIPTION.states),
    subscription_type: oneOf(SUBSCRIPTION_TYPES),
    currency: text,
    billing_cadence: oneOf(['RECURRING', 'ONETIME']),
    billing_cycle: oneOf(['anniversary', 'calendar']),
    billing_period: oneOf(RECURRING_PERIODS),
    billing_period_count: integer,
    billing_anchor: instant,
    start_date: instant,
    end_date: nullable(instant),
    current_period_start: instant,
    current_period_end: instant,
    customer_timezone: text,
    collection_method: text,
    payment_behavior: text,
    payment_terms: nullable(text),
    gateway_payment_method_id: nullable(text),
    auto_invoice_threshold: nullable(decimal),
    late_usage: nullable(json(givenLateUsage)),
    proration_behavior: oneOf(['create_prorations', 'none']),
    synced_price_sequence: integer,
    cancel_at: nullable(instant),
    cancel_at_period_end: flag,
    cancelled_at: nullable(instant),
    trial_start: nullable(instant),
    trial_end: nullable(instant),
    commitment_amount: nullable(decimal),
    commitment_duration: nullable(oneOf(RECURRING_PERIODS)),
    overage_factor: nullable(decimal),
    enable_true_up: flag,
    /** Where the windows of a commitment that another subscription began are counted from. */
    commitment_start: hidden(nullable(instant)),
    /** The subscription with which it began (docs/domain.md 11.2). */
    commitment_origin_id: hidden(nullable(text)),
    pause_status: oneOf(PAUSE_STATUSES),
    active_pause_id: nullable(text),
    version: raisedByChange(integer),
  },
  unique: { subscriptions_lookup_key: 'lookup_key' },
  removal: null,
  lifecycle: { column: 'subscription_status', of: SUBSCRIPTION },
});
export type SubscriptionRow = RecordOf<typeof SUBSCRIPTIONS>;
export type NewSubscriptionRow = NewRecord<(typeof SUBSCRIPTIONS)['columns']>;

/** The customer who receives and pays the invoices of a subscription (docs/domain.md 29.3). */
export function payerOf(
  row: Pick<SubscriptionRow, 'customer_id' | 'invoicing_customer_id'>,
): string {
  return row.invoicing_customer_id ?? row.customer_id;
}

/** A subscription without the records that belong to it. */
export interface SubscriptionDto extends RecordDto {
  customer_id: string;
  invoicing_customer_id: string | null;
  plan_id: string;
  parent_subscription_id: string | null;
  lookup_key: string | null;
  /** @isInt */
  version: number;
  subscription_status: SubscriptionStatus;
  subscription_type: SubscriptionType;
  currency: Currency;
  billing_cadence: BillingCadence;
  billing_cycle: BillingCycle;
  billing_period: BillingPeriod;
  /** @isInt */
  billing_period_count: number;
  billing_anchor: DateTime;
  current_period_start: DateTime;
  current_period_end: DateTime;
  start_date: DateTime;
  end_date: DateTime | null;
  customer_timezone: string;
  collection_method: string;
  payment_behavior: string;
  payment_terms: string | null;
  gateway_payment_method_id: string | null;
  auto_invoice_threshold: DecimalText | null;
  /** What it says of late usage itself; null where its plan or the setting decides. */
  late_usage: LateUsageRulesDto | null;
  proration_behavior: ProrationBehavior;
  /** @isInt */
  synced_price_sequence: number;
  /** The plan has prices that are newer than the ones this subscription has taken over. */
  plan_prices_out_of_sync: boolean;
  cancel_at: DateTime | null;
  cancel_at_period_end: boolean;
  cancelled_at: DateTime | null;
  trial_start: DateTime | null;
  trial_end: DateTime | null;
  commitment_amount: DecimalText | null;
  commitment_duration: BillingPeriod | null;
  overage_factor: DecimalText | null;
  enable_true_up: boolean;
  pause_status: PauseStatus;
  active_pause_id: string | null;
}

/** A subscription beside its plan, which knows whether it has newer prices. */
export function subscriptionToDto(
  row: SubscriptionRow,
  plan: { readonly price_sequence: number },
): SubscriptionDto {
  return {
    ...recordToDto(SUBSCRIPTIONS, row),
    plan_prices_out_of_sync: row.synced_price_sequence < plan.price_sequence,
  };
}
