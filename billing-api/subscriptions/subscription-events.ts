import {
  ANSWERED_CUSTOMERS,
  customerToDto,
  type AnsweredCustomerRow,
} from '../declarations/customers/customer.resource.js';
import { announce, payloadOf } from '../records/recorded-change.js';
import { findRecord } from '../records/find-record.js';
import { recordToDto } from '../records/resource.js';
import type { ReadUnit, Unit } from '../records/unit.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';

/** The members of a subscription in the payload of its events (docs/http.md 11.3). */
const TOLD = [
  'id',
  'customer_id',
  'plan_id',
  'lookup_key',
  'subscription_status',
  'subscription_type',
  'parent_subscription_id',
  'currency',
  'start_date',
  'end_date',
  'current_period_start',
  'current_period_end',
  'cancelled_at',
  'cancel_at',
  'cancel_at_period_end',
  'trial_start',
  'trial_end',
  'billing_cadence',
  'billing_period',
  'billing_period_count',
  'pause_status',
  'metadata',
] as const;
export type ToldOfSubscription = (typeof TOLD)[number];

/** What the events of a subscription tell of it with its customer. */
export function toldWith(row: SubscriptionRow, customer: AnsweredCustomerRow | null) {
  const answer = recordToDto(SUBSCRIPTIONS, row);
  return {
    ...payloadOf(TOLD, answer),
    customer: customer === null ? null : customerToDto(customer),
  };
}

/** What the events of a subscription tell of it, its customer included. */
export async function toldOfSubscription(
  unit: ReadUnit,
  row: SubscriptionRow,
): Promise<Readonly<Record<string, unknown>>> {
  return toldWith(row, await findRecord(unit, ANSWERED_CUSTOMERS, row.customer_id));
}

/**
 * Adds the system event of a subscription that has changed to the unit that changes it.
 * @param known The customers that the unit has read; that of the subscription is read without them.
 */
export async function announceUpdated(
  unit: Unit,
  row: SubscriptionRow,
  known?: ReadonlyMap<string, AnsweredCustomerRow>,
): Promise<void> {
  const customer = known?.get(row.customer_id);
  const told =
    customer === undefined ? await toldOfSubscription(unit, row) : toldWith(row, customer);
  announce(unit, SUBSCRIPTIONS, { id: row.id, name: 'subscription.updated', told });
}

/** Adds the system event of a new subscription, with its customer, to the unit that makes it. */
export function announceNewSubscription(
  unit: Unit,
  row: SubscriptionRow,
  customer: AnsweredCustomerRow,
): void {
  const told = toldWith(row, customer);
  const isDraft = row.subscription_status === 'draft';
  const name = isDraft ? 'subscription.draft.created' : 'subscription.created';
  announce(unit, SUBSCRIPTIONS, { id: row.id, name, told });
}
