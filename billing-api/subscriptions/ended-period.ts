import { formatInstant } from '../../contract/instant.js';
import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';
import { Refusal } from '../records/refusal.js';

/** That a period which has ended is billed before its subscription is changed later than that. */
export function endedPeriodRefusal({
  id,
  current_period_end: end,
}: Pick<SubscriptionRow, 'id' | 'current_period_end'>): Refusal {
  const ended = `the period of ${id} that ended at ${formatInstant(end)} is being billed`;
  return new Refusal('version_conflict', `${ended}; try again in some minutes`);
}
