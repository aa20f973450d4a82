import { add, compare, multiply, zero, type Fraction } from '../usage-oracle/fraction.js';
import { exact, sum, subtract } from './exact.js';
import { chargeFor } from './price.js';
import type { Commitment, Price } from './subscription.js';

/** Money of a charge, told apart; the charge is their sum (docs/domain.md 11.3). */
export type CommitmentParts = {
  readonly utilized: Fraction;
  readonly overage: Fraction;
  readonly trueUp: Fraction;
};

export function plainUsage(usageMoney: Fraction): CommitmentParts {
  return { utilized: usageMoney, overage: zero, trueUp: zero };
}

/** What is committed, as money: a quantity at the price given. */
export function committedMoney(commitment: Commitment, price: Price): Fraction {
  const value = exact(commitment.value);
  return commitment.type === 'amount' ? value : chargeFor(price, value);
}

/** The table of docs/domain.md 11.3 for a committed amount C. */
export function applyCommitment(
  usageMoney: Fraction,
  committed: Fraction,
  { factor, hasTrueUp }: Pick<Commitment, 'factor' | 'hasTrueUp'>,
): CommitmentParts {
  const above = subtract(usageMoney, committed);
  if (compare(above, zero) >= 0) {
    return { utilized: committed, overage: multiply(above, exact(factor)), trueUp: zero };
  }
  return {
    utilized: usageMoney,
    overage: zero,
    trueUp: hasTrueUp ? subtract(committed, usageMoney) : zero,
  };
}

export function addParts(all: readonly CommitmentParts[]): CommitmentParts {
  return {
    utilized: sum(all.map(({ utilized }) => utilized)),
    overage: sum(all.map(({ overage }) => overage)),
    trueUp: sum(all.map(({ trueUp }) => trueUp)),
  };
}

export function chargeOf({ utilized, overage, trueUp }: CommitmentParts): Fraction {
  return add(utilized, add(overage, trueUp));
}
