import { assertPresent } from '../../../runtime/failure.js';
import type { SubscriptionTerms } from '../../domain/invoice/subscription-terms.js';
import { termsFromRow } from '../../subscriptions/subscription-terms.js';
import { subscriptionCommitmentFrom } from '../../subscriptions/lines/stored-commitments.js';
import type { LoadedSubscription } from '../../subscriptions/loaded-subscription.js';

/** The terms that decide the charges of a subscription, with its commitment. */
export function billingTermsOf({ subscription, related }: LoadedSubscription): SubscriptionTerms {
  const plan = assertPresent(related.plans.get(subscription.plan_id), 'the plan');
  const commitment = subscriptionCommitmentFrom(subscription, plan);
  return { ...termsFromRow(subscription), commitment };
}
