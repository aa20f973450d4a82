import { ZERO, type Decimal } from '../../../contract/number/decimal.js';

/** What is left of a commitment, and the terms of its overage and true-up. */
export type RemainingCommitment = {
  /** The money of the commitment that is not used up; 0 or more. */
  readonly available: Decimal;
  readonly overageFactor: Decimal;
  /** Whether the unused part is charged now. */
  readonly isTrueUpDue: boolean;
};

/** The parts of a charge under a commitment; exact. */
export type CommitmentSplit = {
  readonly utilized: Decimal;
  /** The charge beyond the commitment, at the normal price. */
  readonly overageBase: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
  /** `utilized + overage + trueUp`. */
  readonly charge: Decimal;
};

/**
 * The table of docs/domain.md 11.3. A usage charge up to the commitment stays as it is, with a
 * true-up for the rest where that is due; the part beyond it is multiplied by the overage factor. A
 * charge that equals the commitment has neither.
 */
export function applyCommitment(usage: Decimal, remaining: RemainingCommitment): CommitmentSplit {
  const { available, overageFactor, isTrueUpDue } = remaining;
  if (usage.greaterThan(available)) {
    const overageBase = usage.minus(available);
    const overage = overageBase.times(overageFactor);
    const charge = available.plus(overage);
    return { utilized: available, overageBase, overage, trueUp: ZERO, charge };
  }
  const none = { utilized: usage, overageBase: ZERO, overage: ZERO };
  if (!isTrueUpDue) return { ...none, trueUp: ZERO, charge: usage };
  return { ...none, trueUp: available.minus(usage), charge: available };
}
