import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';
import type { Unit } from '../records/unit.js';
import { toldOfSubscription } from './subscription-events.js';

/** What a subscription is when its charges begin: active, or waiting for its first payment. */
export function begunAs({
  payment_behavior: behavior,
}: Pick<SubscriptionRow, 'payment_behavior'>): 'active' | 'incomplete' {
  return behavior === 'default_active' ? 'active' : 'incomplete';
}

/** As `toldOfSubscription`; nothing is told of one that waits: that comes when it is active. */
export async function toldWhenBegun(
  unit: Unit,
  row: SubscriptionRow,
): Promise<Readonly<Record<string, unknown>> | null> {
  return row.subscription_status === 'incomplete' ? null : toldOfSubscription(unit, row);
}
