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

/** What is to be paid of a line. */
type OpenLine = { readonly priceType: 'USAGE' | 'FIXED'; readonly net: Fraction };

/** What prepaid wallets pay: of every line, and by each wallet (docs/domain.md 20.7). */
export function prepaidPayments(
  { currency, wallets }: Pick<Subscription, 'currency' | 'wallets'>,
  lines: readonly OpenLine[],
): { readonly ofLines: readonly Fraction[]; readonly byWallet: ReadonlyMap<string, Fraction> } {
  const paid = lines.map(() => zero);
  const byWallet = new Map<string, Fraction>();
  const usageFirst = (['USAGE', 'FIXED'] as const).flatMap((type) =>
    lines.flatMap(({ priceType }, index) => (priceType === type ? [index] : [])),
  );
  // Negative lines lower what all of the others may be paid of.
  let open = greater(zero, sum(lines.map(({ net }) => net)));
  for (const wallet of wallets.toSorted(byBalance)) {
    let left = smaller(open, payable(currency, wallet));
    const openBefore = open;
    for (const index of usageFirst) {
      const line = lines[index];
      if (line === undefined) continue;
      if (wallet.allowed !== 'ALL' && wallet.allowed !== line.priceType) continue;
      const already = paid[index] ?? zero;
      const amount = smaller(left, greater(zero, subtract(line.net, already)));
      paid[index] = add(already, amount);
      left = subtract(left, amount);
      open = subtract(open, amount);
    }
    byWallet.set(wallet.id, subtract(openBefore, open));
  }
  return { ofLines: paid, byWallet };
}

/** What prepaid wallets pay of every line, in the order of the lines. */
export function prepaidCredits(
  subscription: Subscription,
  lines: readonly DiscountedLine[],
): readonly Fraction[] {
  const open = lines.map((line) => ({ priceType: line.priceType, net: netOf(line) }));
  return prepaidPayments(subscription, open).ofLines;
}
