import type { InstantMs, Interval } from '../../../../contract/instant.js';
import {
  commitmentWindowAt,
  isLastOf,
  type CommitmentSpan,
} from '../../commitment/commitment-window.js';
import { Money, sumOfMoney } from '../../money/money.js';
import type { InvoiceInputs } from '../invoice.js';

/** A commitment, and a billing period inside the wanted commitment window. */
export type CommitmentQuery = CommitmentSpan & {
  readonly startMs: InstantMs;
  /** Whose use counts: the line and its predecessors; null for the whole subscription. */
  readonly lineItemIds: ReadonlySet<string> | null;
};

/** The state of a commitment before an invoice. */
export type CommitmentPeriod<C extends string = string> = {
  readonly window: Interval;
  /** What earlier invoices of the window used up. */
  readonly usedBefore: Money<C>;
  /** Whether the invoice is the last of the window; only then can a true-up be due. */
  readonly isLast: boolean;
};

/**
 * The prior use of a commitment, and whether the invoice is the last of its window (docs/domain.md
 * 11.2).
 */
export function commitmentPeriodOf<C extends string>(
  inputs: InvoiceInputs<C>,
  query: CommitmentQuery,
): CommitmentPeriod<C> {
  const { lineItemIds } = query;
  const { subscription: ledger, period } = inputs;
  const window = commitmentWindowAt(ledger, query.startMs, query);
  const earlier = inputs.priorCommitments.filter(
    (prior) =>
      (lineItemIds === null || lineItemIds.has(prior.lineItemId)) &&
      prior.period.startMs >= window.startMs &&
      prior.period.startMs < period.startMs,
  );
  const { currency } = ledger;
  const used = earlier.map(({ amount }) => new Money(amount, currency));
  return {
    window,
    usedBefore: sumOfMoney(used, currency),
    isLast: isLastOf(window, period, ledger),
  };
}
