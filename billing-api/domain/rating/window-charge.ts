import { ZERO, type Decimal } from '../../../contract/decimal.js';
import { applyCommitment, type CommitmentSplit } from '../commitment/apply-commitment.js';
import type { PricedWindow, WindowCommitment } from './priced-window.js';

/** What one window costs; exact. */
export type WindowCharge = CommitmentSplit & {
  /** C in money, scaled where the window is cut; null where nothing commits. */
  readonly commitment: Decimal | null;
};

/** The commitment of a window that is cut is the share of its full length (domain.md 11.4). */
export function scaledCommitment(
  { amount }: WindowCommitment,
  { scale }: Pick<PricedWindow, 'scale'>,
): Decimal {
  return scale === null ? amount : amount.times(scale.coveredMs).dividedBy(scale.fullMs);
}

/** The table of domain.md 11.3 for one window: all windows together are `sumWindows`. */
export function windowCharge(window: PricedWindow): WindowCharge {
  const { usageAmount, rule } = window;
  if (rule.committed === null) {
    const none = { overageBase: ZERO, overage: ZERO, trueUp: ZERO };
    return { commitment: null, utilized: usageAmount, ...none, charge: usageAmount };
  }
  const { overageFactor, isTrueUpEnabled: isTrueUpDue } = rule.committed;
  const available = scaledCommitment(rule.committed, window);
  const split = applyCommitment(usageAmount, { available, overageFactor, isTrueUpDue });
  return { commitment: available, ...split };
}
