import type { PeriodTerms } from '../calendar/billing-grid.js';
import type { ProrationBehavior } from '../calendar/proration.js';
import type { SubscriptionCommitment } from '../commitment/commitment.js';

/** The part of a subscription that decides its periods and its charges. */
export type SubscriptionTerms = PeriodTerms & {
  /** Lower case. */
  readonly currency: string;
  readonly prorationBehavior: ProrationBehavior;
  /** Null where there is none, and always where a line item has a commitment. */
  readonly commitment: SubscriptionCommitment | null;
};
