import { ZERO, maxOf, type Decimal } from '../../../../contract/number/decimal.js';
import { applyCommitment, type CommitmentSplit } from '../../commitment/apply-commitment.js';
import { commitmentMoney } from '../../rating/commitment-money.js';
import type { CommitmentTerms, LineCommitment } from '../../commitment/commitment.js';
import { commitmentPeriodOf } from './commitment-period.js';
import type { BillableLine } from '../billable-line.js';
import type { InvoiceInputs } from '../invoice.js';
import type { CommitmentTrace } from '../../commitment/commitment-trace.js';
import { lineBillingOf } from '../line-billing.js';
import { usedOf, type Lineages, type UsedOnInvoice } from './lineage.js';

/** The charge of a line under its own commitment, exact, and its three parts. */
export type CommittedCharge = {
  readonly commitment: LineCommitment;
  /** C in money; null for windows, because each window has its own. */
  readonly money: Decimal | null;
  readonly utilized: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
  readonly charge: Decimal;
  /** Null for windows, because each window has its own trace. */
  readonly trace: CommitmentTrace | null;
};

/** The invoice whose lines are committed, and what is known of it so far. */
export type CommitmentContext<C extends string = string> = {
  readonly inputs: InvoiceInputs<C>;
  readonly lineages: Lineages;
  readonly used: UsedOnInvoice<C>;
};

/** The charge of a line whose windows were charged one by one (docs/domain.md 11.4). */
export function committedWindows(
  commitment: LineCommitment,
  sum: CommitmentSplit,
): CommittedCharge {
  const { utilized, overage, trueUp, charge } = sum;
  return { commitment, money: null, utilized, overage, trueUp, charge, trace: null };
}

/**
 * Applies the commitment of a line to its usage charge (docs/domain.md 11.3). The commitment covers
 * the billing period, or several; what the line and its predecessors left of it is available. Only
 * the last committed line of a lineage is trued up.
 */
export function commitLine<C extends string>(
  usageAmount: Decimal,
  { lineItem, period }: BillableLine,
  committed: CommitmentContext<C> & {
    readonly commitment: LineCommitment;
    readonly terms: CommitmentTerms;
  },
): CommittedCharge {
  const { commitment, terms, inputs, lineages, used } = committed;
  const { overageFactor, isTrueUpEnabled } = terms;
  const money = commitmentMoney(terms, lineItem.price);
  const { ids, hasSuccessorIn } = lineages.of(lineItem);
  const { window, isLast, ...prior } = commitmentPeriodOf(inputs, {
    ...lineBillingOf(lineItem.price, inputs.subscription),
    duration: commitment.duration,
    startMs: period.startMs,
    lineItemIds: ids,
  });
  const { currency } = inputs.subscription;
  const { value: usedBefore } = prior.usedBefore.plus(usedOf(used, ids, currency));
  const split = applyCommitment(usageAmount, {
    available: maxOf(ZERO, money.minus(usedBefore)),
    overageFactor,
    isTrueUpDue: isTrueUpEnabled && isLast && !hasSuccessorIn(window),
  });
  const { utilized, overageBase, overage, trueUp, charge } = split;
  return {
    commitment,
    money,
    utilized,
    overage,
    trueUp,
    charge,
    trace: {
      level: 'line',
      type: terms.type,
      amount: money,
      window,
      isLast,
      usedBefore,
      inCommitment: utilized,
      overageBase,
      overageFactor,
      overage,
      trueUp,
      splitOf: null,
    },
  };
}
