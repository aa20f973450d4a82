import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { applyCommitment, type CommitmentSplit } from '../commitment/apply-commitment.js';
import type { PricedWindow, WindowCommitment } from './priced-window.js';

/** The charge of one window; exact. */
export type WindowCharge = CommitmentSplit & {
  /** C in money, scaled for a cut window; null without a commitment. */
  readonly commitment: Decimal | null;
};

/** The commitment of a window; a cut window has its share of it (docs/domain.md 11.4). */
export function scaledCommitment(
  { amount }: WindowCommitment,
  { scale }: Pick<PricedWindow, 'scale'>,
): Decimal {
  return scale === null ? amount : amount.times(scale.coveredMs).dividedBy(scale.fullMs);
}

/** The table of docs/domain.md 11.3 for one window; `sumWindows` is the sum over all windows. */
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
