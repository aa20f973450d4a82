import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import type { InstantMs } from '../../contract/instant.js';
import { findCustomerByExternalId } from '../customers/customers-store.js';
import type { BillingCadence } from '../domain/calendar/billing-grid.js';
import type { PriceBillingPeriod } from '../domain/price/price-cadence.js';
import {
  endsAfter,
  isDue,
  isEqual,
  isOneOf,
  isOneOfAsked,
  isInGroup,
  type Conditions,
} from '../records/conditions.js';
import { MemberReader } from '../records/member-rules.js';
import type { DateTime, SearchBody } from '../records/record-dto.js';
import type { Refusal } from '../records/refusal.js';
import type { ColumnName } from '../records/resource.js';
import type { ReadUnit } from '../records/unit.js';
import type {
  SUBSCRIPTIONS,
  SubscriptionStatus,
  SubscriptionType,
} from '../declarations/subscriptions/subscription.resource.js';

export interface SearchSubscriptionsBody extends SearchBody {
  /** Started, not ended and not a draft at this instant. */
  active_at?: DateTime;
  /** @maxItems 2 */
  billing_cadence?: BillingCadence[];
  /** @maxItems 7 */
  billing_period?: PriceBillingPeriod[];
  customer_id?: string;
  /** @maxItems 1000 */
  customer_ids?: string[];
  external_customer_id?: string;
  /** @maxItems 1000 */
  invoicing_customer_ids?: string[];
  /** @maxItems 1000 */
  parent_subscription_ids?: string[];
  plan_id?: string;
  /** @maxItems 1000 */
  subscription_ids?: string[];
  /** @maxItems 6 */
  subscription_status?: SubscriptionStatus[];
  /** @maxItems 5 */
  subscription_type?: SubscriptionType[];
  /** Only subscriptions whose current period ends, or that were cancelled, by this instant. */
  effective_date_for_update?: DateTime;
  /** Only subscriptions with a trial that ends at or before this instant. */
  trial_end_due_lte?: DateTime;
  /** @default false */
  with_line_items?: boolean;
}

export type SubscriptionConditions = Conditions<ColumnName<(typeof SUBSCRIPTIONS)['columns']>>;

/** Started, not a draft and not ended (docs/http.md 5.1). */
function isActiveAt(instant: InstantMs | null): SubscriptionConditions {
  if (instant === null) return [];
  return [
    ...isDue(['start_date'], instant),
    ...isInGroup('subscription_status', SUBSCRIPTION, 'begun'),
    ...endsAfter('end_date', instant),
  ];
}

/** The conditions of a subscription search beside the common ones, but for the external id. */
export function subscriptionConditions(
  body: SearchSubscriptionsBody,
): SubscriptionConditions | Refusal {
  const reader = new MemberReader();
  const activeAtMs = reader.instant('active_at', body.active_at);
  const updateDueMs = reader.instant('effective_date_for_update', body.effective_date_for_update);
  const trialDueMs = reader.instant('trial_end_due_lte', body.trial_end_due_lte);
  return (
    reader.refusal() ?? [
      ...isActiveAt(activeAtMs),
      ...isOneOfAsked('billing_cadence', body.billing_cadence),
      ...isOneOfAsked('billing_period', body.billing_period),
      ...isEqual('customer_id', body.customer_id),
      ...isOneOfAsked('customer_id', body.customer_ids),
      ...isOneOfAsked('invoicing_customer_id', body.invoicing_customer_ids),
      ...isOneOfAsked('parent_subscription_id', body.parent_subscription_ids),
      ...isEqual('plan_id', body.plan_id),
      ...isOneOfAsked('id', body.subscription_ids),
      ...isOneOfAsked('subscription_status', body.subscription_status),
      ...isOneOfAsked('subscription_type', body.subscription_type),
      ...isDue(['current_period_end', 'cancel_at'], updateDueMs),
      ...isDue(['trial_end'], trialDueMs),
    ]
  );
}

/** An external id that no published customer has finds nothing. */
export async function isOfExternalCustomer(
  { tx }: ReadUnit,
  externalId: string | undefined,
): Promise<SubscriptionConditions> {
  if (externalId === undefined) return [];
  const customer = await findCustomerByExternalId(tx, externalId);
  return isOneOf('customer_id', customer === null ? [] : [customer.id]);
}
