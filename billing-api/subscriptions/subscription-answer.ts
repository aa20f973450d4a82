import { formatInstant } from '../../contract/instant.js';
import type { TimeBucketColumn } from '../catalog/prices/prices-store.js';
import type { LineItemRow, SubscriptionRow } from './subscriptions-store.js';
import type { SubscriptionExpandable, SubscriptionSurroundings } from './read-subscriptions.js';
import { instantToDto, rateToDto, recordToDto } from '../records/record-dto.js';
import type { CommitmentTimeBucketDto } from './commitment-dto.js';
import { customerToDto } from '../customers/customer.resource.js';
import { planToDto } from '../catalog/plans/plan.resource.js';
import { PRICE_PLAIN, priceToDto } from '../catalog/prices/price-dto.js';
import type { LineItemDto, SubscriptionDto } from './subscription-dto.js';

const nullableRate = (text: string | null): string | null =>
  text === null ? null : rateToDto(text);

function timeBucketToDto(bucket: TimeBucketColumn): CommitmentTimeBucketDto {
  return { ...bucket, commitment_value: rateToDto(bucket.commitment_value) };
}

export function lineItemToDto(
  row: LineItemRow,
  surroundings: SubscriptionSurroundings,
): LineItemDto {
  const price = surroundings.prices.get(row.price_id);
  return {
    ...recordToDto(row),
    subscription_id: row.subscription_id,
    subscription_phase_id: null,
    customer_id: row.customer_id,
    entity_type: row.entity_type,
    entity_id: row.entity_id,
    addon_association_id: null,
    price_id: row.price_id,
    price: price === undefined ? null : priceToDto(price, PRICE_PLAIN),
    price_type: row.price_type,
    price_unit: price?.price_unit ?? null,
    price_unit_id: price?.price_unit_id ?? null,
    meter_id: row.meter_id,
    meter_display_name: row.meter_display_name,
    plan_display_name: row.plan_display_name,
    display_name: row.display_name,
    currency: row.currency,
    quantity: rateToDto(row.quantity),
    billing_period: row.billing_period,
    billing_period_count: row.billing_period_count,
    invoice_cadence: row.invoice_cadence,
    start_date: formatInstant(row.start_date),
    end_date: instantToDto(row.end_date),
    commitment_type: row.commitment_type,
    commitment_amount: nullableRate(row.commitment_amount),
    commitment_quantity: nullableRate(row.commitment_quantity),
    commitment_duration: row.commitment_duration,
    commitment_overage_factor: nullableRate(row.commitment_overage_factor),
    commitment_true_up_enabled: row.commitment_true_up_enabled,
    commitment_windowed: row.commitment_windowed,
    commitment_time_buckets: (price?.commitment_time_buckets ?? []).map(timeBucketToDto),
  };
}

function datesToDto(
  row: SubscriptionRow,
): Pick<
  SubscriptionDto,
  | 'billing_anchor'
  | 'current_period_start'
  | 'current_period_end'
  | 'start_date'
  | 'end_date'
  | 'cancel_at'
  | 'cancelled_at'
  | 'trial_start'
  | 'trial_end'
> {
  return {
    billing_anchor: formatInstant(row.billing_anchor),
    current_period_start: formatInstant(row.current_period_start),
    current_period_end: formatInstant(row.current_period_end),
    start_date: formatInstant(row.start_date),
    end_date: instantToDto(row.end_date),
    cancel_at: instantToDto(row.cancel_at),
    cancelled_at: instantToDto(row.cancelled_at),
    trial_start: instantToDto(row.trial_start),
    trial_end: instantToDto(row.trial_end),
  };
}

/** The members of the subscription itself, without what belongs to it. */
function headerToDto(
  row: SubscriptionRow,
  surroundings: Pick<SubscriptionSurroundings, 'plans'>,
): SubscriptionDto {
  const plan = surroundings.plans.get(row.plan_id);
  return {
    ...recordToDto(row),
    customer_id: row.customer_id,
    invoicing_customer_id: row.invoicing_customer_id,
    plan_id: row.plan_id,
    parent_subscription_id: row.parent_subscription_id,
    lookup_key: row.lookup_key,
    version: row.version,
    subscription_status: row.subscription_status,
    subscription_type: row.subscription_type,
    currency: row.currency,
    billing_cadence: row.billing_cadence,
    billing_cycle: row.billing_cycle,
    billing_period: row.billing_period,
    billing_period_count: row.billing_period_count,
    ...datesToDto(row),
    customer_timezone: row.customer_timezone,
    collection_method: row.collection_method,
    payment_behavior: row.payment_behavior,
    payment_terms: row.payment_terms,
    gateway_payment_method_id: row.gateway_payment_method_id,
    auto_invoice_threshold: nullableRate(row.auto_invoice_threshold),
    proration_behavior: row.proration_behavior,
    synced_price_sequence: row.synced_price_sequence,
    plan_prices_out_of_sync: row.synced_price_sequence < (plan?.price_sequence ?? 0),
    cancel_at_period_end: row.cancel_at_period_end,
    commitment_amount: nullableRate(row.commitment_amount),
    commitment_duration: row.commitment_duration,
    overage_factor: nullableRate(row.overage_factor),
    enable_true_up: row.enable_true_up,
    pause_status: row.pause_status,
    active_pause_id: row.active_pause_id,
  };
}

function linesOf(row: SubscriptionRow, surroundings: SubscriptionSurroundings): LineItemDto[] {
  return surroundings.lineItems
    .filter((item) => item.subscription_id === row.id)
    .map((item) => lineItemToDto(item, surroundings));
}

function partiesOf(
  row: SubscriptionRow,
  surroundings: SubscriptionSurroundings,
): Required<Pick<SubscriptionDto, 'customer' | 'plan'>> {
  const customer = surroundings.customers.get(row.customer_id);
  const plan = surroundings.plans.get(row.plan_id);
  return {
    customer: customer === undefined ? null : customerToDto(customer),
    plan: plan === undefined ? null : planToDto(plan),
  };
}

/** One subscription with everything that belongs to it. */
export function subscriptionToDto(
  row: SubscriptionRow,
  surroundings: SubscriptionSurroundings,
): SubscriptionDto {
  return {
    ...headerToDto(row, surroundings),
    ...partiesOf(row, surroundings),
    line_items: linesOf(row, surroundings),
    pauses: [],
    phases: [],
    coupon_associations: [],
    credit_grants: [],
    latest_invoice: null,
  };
}

/** One subscription of a list: what belongs to it only as far as it was asked for. */
export function subscriptionToListDto(
  row: SubscriptionRow,
  surroundings: SubscriptionSurroundings,
  wish: { readonly expand: ReadonlySet<SubscriptionExpandable>; readonly withLineItems: boolean },
): SubscriptionDto {
  const { customer, plan } = partiesOf(row, surroundings);
  return {
    ...headerToDto(row, surroundings),
    ...(wish.expand.has('customer') ? { customer } : {}),
    ...(wish.expand.has('plan') ? { plan } : {}),
    ...(wish.withLineItems ? { line_items: linesOf(row, surroundings) } : {}),
  };
}
