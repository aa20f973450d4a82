import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { readRecord } from '../../records/find-record.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { activateIncomplete } from '../../subscriptions/activate-incomplete.js';
import type { StoredInvoice } from '../stored/draft-invoices.js';

/** Why error_if_incomplete refuses a subscription whose first payment has not succeeded. */
function unpaidRefusal(status: string): Refusal {
  const problem =
    status === 'PROCESSING'
      ? 'a gateway is asked only when the subscription is there: give payment_behavior allow_incomplete'
      : 'the first payment did not succeed, so nothing was stored';
  return new Refusal('invalid_operation', problem);
}

/**
 * A new subscription after its opening invoice: one that waits for its payment is active where
 * there is nothing to pay, or it is paid already (docs/domain.md 5.1).
 */
export async function settleOpening(
  unit: Unit,
  { id, subscription_status: begun }: SubscriptionRow,
  opening: StoredInvoice | null,
): Promise<SubscriptionRow | Refusal> {
  const isFree = opening === null || opening.row.invoice_status === 'SKIPPED';
  const row =
    begun === 'incomplete' && isFree
      ? await activateIncomplete(unit, id)
      : await readRecord(unit, SUBSCRIPTIONS, id);
  if (isRefusal(row) || opening === null) return row;
  const isRefused =
    row.subscription_status === 'incomplete' && row.payment_behavior === 'error_if_incomplete';
  return isRefused ? unpaidRefusal(opening.row.payment_status) : row;
}
