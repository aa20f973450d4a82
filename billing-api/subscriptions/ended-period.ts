import { formatInstant } from '../../contract/instant.js';
import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';
import { Refusal } from '../records/refusal.js';

/** A refusal that holds until the periods of a subscription that have ended are billed. */
export class EndedPeriod extends Refusal {
  constructor(
    readonly subscriptionId: string,
    message: string,
  ) {
    super('version_conflict', message);
  }
}

/** That a period which has ended is billed before its subscription is changed later than that. */
export function endedPeriodRefusal({
  id,
  current_period_end: end,
}: Pick<SubscriptionRow, 'id' | 'current_period_end'>): Refusal {
  const ended = `the period of ${id} that ended at ${formatInstant(end)} is being billed`;
  return new EndedPeriod(id, `${ended}; try again in some minutes`);
}
