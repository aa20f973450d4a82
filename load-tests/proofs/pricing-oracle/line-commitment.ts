import { multiply, zero, type Fraction } from '../usage-oracle/fraction.js';
import type { Range } from '../usage-oracle/windows.js';
import { applyCommitment, committedMoney, type CommitmentParts } from './commitment-parts.js';
import { commitmentWindowOf, isLastOf, isLongerThanPeriod, priorIn } from './commitment-window.js';
import { exact, greater, smaller, subtract } from './exact.js';
import type { EarlierInvoice } from './invoice-question.js';
import type { BillingPeriod } from './billing-grid.js';
import type { Commitment, Subscription, UsageItem } from './subscription.js';
import type { UsageCharge } from './usage-charge.js';
import { windowedParts } from './windowed-commitment.js';

/** The invoice on which commitments are settled. */
export type Settlement = {
  readonly subscription: Subscription;
  readonly period: Range;
  readonly now: number | null;
  readonly earlier: readonly EarlierInvoice[];
};

function priorOf(item: UsageItem, window: Range, earlier: readonly EarlierInvoice[]): Fraction {
  const ids = [item.id, ...item.predecessorIds];
  const uses = earlier.flatMap(({ period, lines }) =>
    lines
      .filter(({ itemId }) => itemId !== null && ids.includes(itemId))
      .map(({ utilized }) => ({ periodStart: period.start, amount: exact(utilized) })),
  );
  return priorIn(window, uses);
}

/** A commitment over several billing periods (docs/domain.md 11.2, 11.3). */
function longerParts(
  { line: { item }, money }: UsageCharge,
  { commitment, duration }: { readonly commitment: Commitment; readonly duration: BillingPeriod },
  { subscription, period, earlier }: Settlement,
): CommitmentParts {
  const window = commitmentWindowOf(subscription, duration, period.start);
  const committed = committedMoney(commitment, item.price);
  const left = greater(zero, subtract(committed, priorOf(item, window, earlier)));
  const utilized = smaller(money, left);
  const isTruedUp = commitment.hasTrueUp && isLastOf(window, period, subscription);
  return {
    utilized,
    overage: multiply(subtract(money, utilized), exact(commitment.factor)),
    trueUp: isTruedUp ? subtract(left, utilized) : zero,
  };
}

/** What a line's own commitment makes of its usage; null without one (docs/domain.md 11.3–11.5). */
export function lineParts(charge: UsageCharge, settlement: Settlement): CommitmentParts | null {
  const { item } = charge.line;
  const { commitment } = item;
  if (commitment === null) return null;
  if (commitment.isWindowed) {
    const buckets = charge.remaining.buckets ?? [];
    return windowedParts(buckets, { price: item.price, commitment }, settlement.now);
  }
  const { own, duration } = commitment;
  if (own === null) return null;
  if (isLongerThanPeriod(settlement.subscription, duration)) {
    return longerParts(charge, { commitment: own, duration }, settlement);
  }
  return applyCommitment(charge.money, committedMoney(own, item.price), own);
}
