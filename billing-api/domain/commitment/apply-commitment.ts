import { ZERO, type Decimal } from '../../../contract/decimal.js';

/** What a usage is held against. */
export type RemainingCommitment = {
  /** Money of the commitment that is not used up yet; 0 or more. */
  readonly available: Decimal;
  readonly overageFactor: Decimal;
  /** Whether what the usage does not use up is charged now. */
  readonly isTrueUpDue: boolean;
};

/** The parts of a charge under a commitment; exact. */
export type CommitmentSplit = {
  readonly utilized: Decimal;
  /** What goes beyond the commitment, at the normal price. */
  readonly overageBase: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
  /** `utilized + overage + trueUp`. */
  readonly charge: Decimal;
};

/**
 * The table of domain.md 11.3. A usage up to the commitment is charged as it is, and what is
 * missing is trued up where that is due; what goes beyond is multiplied by the overage factor. A
 * usage that meets the commitment exactly has neither.
 */
export function applyCommitment(usage: Decimal, rest: RemainingCommitment): CommitmentSplit {
  const { available, overageFactor, isTrueUpDue } = rest;
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
