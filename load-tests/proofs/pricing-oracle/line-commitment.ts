import { multiply, zero, type Fraction } from '../usage-oracle/fraction.js';
import type { Range } from '../usage-oracle/windows.js';
import { committedMoney, type CommitmentParts } from './commitment-parts.js';
import {
  commitmentWindowOf,
  isLastOf,
  isLongerThanPeriod,
  priorIn,
  type EarlierUse,
} from './commitment-window.js';
import { exact, greater, smaller, subtract, sum } from './exact.js';
import type { EarlierInvoice } from './invoice-question.js';
import type { BillingPeriod } from './billing-grid.js';
import { endOf, type Subscription, type UsageItem } from './subscription.js';
import type { UsageCharge } from './usage-charge.js';
import { windowedParts } from './windowed-commitment.js';

/** The invoice on which commitments are settled. */
export type Settlement = {
  readonly subscription: Subscription;
  /** As if no threshold invoice had split it. */
  readonly period: Range;
  readonly now: number | null;
  readonly earlier: readonly EarlierInvoice[];
};

/** The commitment window of a period, and whether the period is the last of it. */
function windowOf(
  { subscription, period }: Settlement,
  duration: BillingPeriod | null,
): { readonly window: Range; readonly isLast: boolean } {
  if (!isLongerThanPeriod(subscription, duration)) return { window: period, isLast: true };
  const window = commitmentWindowOf(subscription, duration, period.start);
  return { window, isLast: isLastOf(window, period, subscription) };
}

function usesOnEarlierInvoices(
  { id, predecessorIds }: UsageItem,
  earlier: readonly EarlierInvoice[],
): readonly EarlierUse[] {
  const ids = [id, ...predecessorIds];
  return earlier.flatMap(({ period, lines }) =>
    lines
      .filter(({ itemId }) => itemId !== null && ids.includes(itemId))
      .map(({ utilized }) => ({ periodStart: period.start, amount: exact(utilized) })),
  );
}

/** Whether a later item of the lineage carries the commitment on (docs/domain.md 11.3). */
function isCarriedOn({ id }: UsageItem, subscription: Subscription, window: Range): boolean {
  const end = Math.min(window.end, endOf(subscription) ?? window.end);
  return subscription.items.some(
    (item) =>
      item.type === 'USAGE' &&
      item.commitment !== null &&
      item.predecessorIds.includes(id) &&
      item.start < end,
  );
}

/**
 * What a line's own commitment makes of its usage; null without one (docs/domain.md 11.3–11.5).
 * `segments` is what earlier items of its lineage show as utilized on the same invoice.
 */
export function lineParts(
  charge: UsageCharge,
  settlement: Settlement,
  segments: readonly Fraction[],
): CommitmentParts | null {
  const { item } = charge.line;
  const { commitment } = item;
  if (commitment === null) return null;
  if (commitment.isWindowed) {
    const buckets = charge.remaining.buckets ?? [];
    return windowedParts(buckets, { price: item.price, commitment }, settlement.now);
  }
  const { own, duration } = commitment;
  if (own === null) return null;
  const { subscription, earlier } = settlement;
  const { window, isLast } = windowOf(settlement, duration);
  const prior = [priorIn(window, usesOnEarlierInvoices(item, earlier)), ...segments];
  const committed = committedMoney(own, item.price);
  const left = greater(zero, subtract(committed, sum(prior)));
  const utilized = smaller(charge.money, left);
  const isTruedUp = own.hasTrueUp && isLast && !isCarriedOn(item, subscription, window);
  return {
    utilized,
    overage: multiply(subtract(charge.money, utilized), exact(own.factor)),
    trueUp: isTruedUp ? subtract(left, utilized) : zero,
  };
}
