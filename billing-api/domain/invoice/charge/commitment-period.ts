import { ZERO, maxOf, type Decimal } from '../../../../contract/decimal.js';
import type { InstantMs } from '../../../../contract/instant.js';
import { commitmentWindowAt, isLastOf } from '../../commitment/commitment-window.js';
import type { BillingPeriod } from '../../calendar/billing-grid.js';
import type { SubscriptionTerms } from '../subscription-terms.js';
import type { InvoiceInputs } from '../invoice.js';

/** A commitment, and a billing period inside the wanted commitment window. */
export type CommitmentQuery = {
  readonly duration: BillingPeriod | null;
  /** The subscription, with the line's own billing period for a line. */
  readonly terms: SubscriptionTerms;
  readonly startMs: InstantMs;
  /** Null for the commitment of the whole subscription. */
  readonly lineItemId: string | null;
};

/** The state of a commitment before an invoice. */
export type CommitmentPeriod = {
  /** What earlier invoices of the window used up. */
  readonly usedBefore: Decimal;
  /** Whether the invoice is the last of the window; only then can a true-up be due. */
  readonly isLast: boolean;
};

/**
 * The prior use of a commitment, and whether the invoice is the last of its window (docs/domain.md
 * 11.2).
 */
export function commitmentPeriodOf(
  inputs: InvoiceInputs,
  query: CommitmentQuery,
): CommitmentPeriod {
  const { duration, terms, startMs, lineItemId } = query;
  const window = commitmentWindowAt(startMs, duration, terms);
  const earlier = inputs.priorCommitments.filter(
    (prior) =>
      (lineItemId === null || prior.lineItemId === lineItemId) &&
      prior.period.startMs >= window.startMs &&
      prior.period.startMs < inputs.period.startMs,
  );
  return {
    usedBefore: earlier.reduce((sum, { amount }) => sum.plus(amount), ZERO),
    isLast: isLastOf(window, inputs.period, terms),
  };
}

/** The unused part of a commitment; 0 when more than the commitment was used. */
export function restOf(commitment: Decimal, used: Decimal): Decimal {
  return maxOf(ZERO, commitment.minus(used));
}
