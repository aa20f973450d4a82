import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';
import { createRecord } from '../../records/create-record.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { insertPeriod } from '../../subscriptions/periods/periods-store.js';
import { announceNewSubscription } from '../../subscriptions/subscription-events.js';
import {
  SUBSCRIPTIONS,
  type NewSubscriptionRow,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';

/** Stores a subscription with the first row of its period ledger, and announces it. */
export async function insertSubscription(
  unit: Unit,
  row: NewSubscriptionRow & { readonly id: string },
  period: LedgerPeriod,
): Promise<SubscriptionRow | Refusal> {
  const subscription = await createRecord(unit, SUBSCRIPTIONS, row);
  if (isRefusal(subscription)) return subscription;
  await insertPeriod(unit, row.id, period);
  await announceNewSubscription(unit, subscription);
  return subscription;
}
