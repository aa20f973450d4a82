import {
  add,
  compare,
  divide,
  floor,
  multiply,
  zero,
  type Fraction,
} from '../usage-oracle/fraction.js';
import { netOf, type DiscountedLine } from './discounts.js';
import { exact, greater, smaller, subtract, sum } from './exact.js';
import { minorDigitsOf } from './money.js';
import type { Subscription, Wallet } from './subscription.js';

function balanceOf({ creditBalance, conversionRate }: Wallet): Fraction {
  return multiply(exact(creditBalance), exact(conversionRate));
}

/** The greatest balance first; of equal ones the wallet created first (docs/domain.md 20.7). */
function byBalance(left: Wallet, right: Wallet): number {
  return compare(balanceOf(right), balanceOf(left)) || left.createdAt - right.createdAt;
}

/** Money that a wallet can pay: its balance cut to minor units, nothing when negative (20.3). */
function payable(currency: string, wallet: Wallet): Fraction {
  const unitsInOne = exact(`1e${minorDigitsOf(currency)}`);
  return greater(zero, divide(floor(multiply(balanceOf(wallet), unitsInOne)), unitsInOne));
}

/** What prepaid wallets pay of every line, in the order of the lines (docs/domain.md 20.7). */
export function prepaidCredits(
  { currency, wallets }: Subscription,
  lines: readonly DiscountedLine[],
): readonly Fraction[] {
  const paid = lines.map(() => zero);
  const usageFirst = (['USAGE', 'FIXED'] as const).flatMap((type) =>
    lines.flatMap(({ priceType }, index) => (priceType === type ? [index] : [])),
  );
  // Negative lines lower what all of the others may be paid of.
  let open = greater(zero, sum(lines.map(netOf)));
  for (const wallet of wallets.toSorted(byBalance)) {
    let left = smaller(open, payable(currency, wallet));
    for (const index of usageFirst) {
      const line = lines[index];
      if (line === undefined) continue;
      if (wallet.allowed !== 'ALL' && wallet.allowed !== line.priceType) continue;
      const already = paid[index] ?? zero;
      const amount = smaller(left, greater(zero, subtract(netOf(line), already)));
      paid[index] = add(already, amount);
      left = subtract(left, amount);
      open = subtract(open, amount);
    }
  }
  return paid;
}
