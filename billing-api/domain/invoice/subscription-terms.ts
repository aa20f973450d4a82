import type { ProrationBehavior } from '../calendar/proration.js';
import type { SubscriptionCommitment } from '../commitment/commitment.js';
import type { PeriodLedger } from '../periods/period-ledger.js';

/** The part of a subscription that decides its charges, with its periods. */
export type SubscriptionTerms<C extends string = string> = PeriodLedger & {
  /** Lower case. */
  readonly currency: C;
  readonly prorationBehavior: ProrationBehavior;
  /** Null where there is none, and always where a line item has a commitment. */
  readonly commitment: SubscriptionCommitment | null;
};
