import { ZERO, maxOf, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { commitmentWindowAt, isLastOf } from '../commitment/commitment-window.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';
import type { SubscriptionTerms } from './subscription-terms.js';
import type { InvoiceInputs } from './invoice.js';

/** A commitment and the billing period in which its window is looked for. */
export type CommitmentQuery = {
  readonly duration: BillingPeriod | null;
  /** The subscription, with the line's own billing period for a line. */
  readonly terms: SubscriptionTerms;
  readonly startMs: InstantMs;
  /** Null for the commitment of the whole subscription. */
  readonly lineItemId: string | null;
};

/** How a commitment stands before an invoice. */
export type CommitmentPeriod = {
  /** Used up by earlier invoices of the window. */
  readonly usedBefore: Decimal;
  /** Whether a true-up falls due. */
  readonly isLast: boolean;
};

/** Prior use, and whether the invoice is the last one of the commitment's window (11.2). */
export function commitmentPeriodOf(
  inputs: InvoiceInputs,
  question: CommitmentQuery,
): CommitmentPeriod {
  const { duration, terms, startMs, lineItemId } = question;
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

/** What of a commitment is left after a use that may exceed it. */
export function restOf(commitment: Decimal, used: Decimal): Decimal {
  return maxOf(ZERO, commitment.minus(used));
}
