import { add, compare, divide, floor, multiply, type Fraction } from '../usage-oracle/fraction.js';
import { exact, one, subtract, sum } from './exact.js';
import { minorDigitsOf } from './money.js';

/**
 * Splits an amount of whole minor units by shares that add up to it, or to a value that rounds to
 * it: floors, then one unit each for the greatest remainders, the earlier first (docs/domain.md
 * 6.5).
 */
export function splitAmount(
  currency: string,
  amount: Fraction,
  shares: readonly Fraction[],
): readonly Fraction[] {
  const unitsInOne = exact(`1e${minorDigitsOf(currency)}`);
  const inUnits = shares.map((share) => multiply(share, unitsInOne));
  const floors = inUnits.map(floor);
  let missing = subtract(multiply(amount, unitsInOne), sum(floors));
  const remainders = inUnits.map((share, index) => ({
    index,
    rest: subtract(share, floors[index] ?? share),
  }));
  const byRemainder = remainders.toSorted(
    (left, right) => compare(right.rest, left.rest) || left.index - right.index,
  );
  const parts = [...floors];
  for (const { index } of byRemainder) {
    if (compare(missing, one) < 0) break;
    parts[index] = add(parts[index] ?? one, one);
    missing = subtract(missing, one);
  }
  return parts.map((part) => divide(part, unitsInOne));
}
