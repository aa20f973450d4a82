import { compareTexts } from '../../../contract/compare-texts.js';
import { ZERO, maxOf } from '../../../contract/number/decimal.js';
import { atLeastZero, floorMoney, lesserOf, type Money } from '../money/money.js';
import type { PriceType } from '../price/price-cadence.js';
import type { PrepaidDebit, PrepaidWallet } from './adjustments.js';
import type { AdjustedLine } from './adjusted-line.js';

export type PrepaidContext<C extends string = string> = {
  readonly wallets: readonly PrepaidWallet[];
  /** Subtotal minus discounts: the most that credits may pay in total. */
  readonly limit: Money<C>;
};

/** The lines with their credits, and the debits of the wallets. */
export type PrepaidResult<Line extends AdjustedLine<C>, C extends string = string> = {
  readonly lines: readonly Line[];
  readonly debits: readonly PrepaidDebit<C>[];
};

function byBalance(left: PrepaidWallet, right: PrepaidWallet): number {
  const balances = right.balance.comparedTo(left.balance);
  const ages = left.createdAtMs - right.createdAtMs;
  return balances || ages || compareTexts(left.id, right.id);
}

function typeOf({ lineItem }: Pick<AdjustedLine, 'lineItem'>): PriceType {
  return lineItem?.price.type ?? 'FIXED';
}

function mayPay<C extends string>(
  { allowedPriceTypes }: PrepaidWallet,
  line: AdjustedLine<C>,
): boolean {
  return allowedPriceTypes.includes('ALL') || allowedPriceTypes.includes(typeOf(line));
}

function needOf<C extends string>(line: AdjustedLine<C>): Money<C> {
  const { amount, lineItemDiscount, invoiceLevelDiscount, prepaidCreditsApplied } = line;
  const net = amount.minus(lineItemDiscount).minus(invoiceLevelDiscount);
  return atLeastZero(net.minus(prepaidCreditsApplied));
}

/** Indexes of the lines in the order in which credits pay them: usage first. */
function payingOrder<C extends string>(lines: readonly AdjustedLine<C>[]): readonly number[] {
  const indexes = [...lines.keys()];
  const isUsage = (index: number): boolean => {
    const line = lines[index];
    return line !== undefined && typeOf(line) === 'USAGE';
  };
  return [...indexes.filter(isUsage), ...indexes.filter((index) => !isUsage(index))];
}

/** What a wallet pays of a line, by the place of the line. */
export type PaidLine<C extends string = string> = {
  readonly index: number;
  readonly amount: Money<C>;
};
type PaidFrom<C extends string> = {
  readonly amount: Money<C>;
  readonly lines: readonly PaidLine<C>[];
};

/** Pays lines from one wallet and returns what it paid of which. */
function payFrom<Line extends AdjustedLine<C>, C extends string>(
  wallet: PrepaidWallet,
  lines: Line[],
  moneyMax: Money<C>,
): PaidFrom<C> {
  let money = moneyMax;
  const paidLines: PaidLine<C>[] = [];
  for (const index of payingOrder(lines)) {
    const line = lines[index];
    if (line === undefined || !mayPay(wallet, line)) continue;
    const paid = lesserOf(money, needOf(line));
    money = money.minus(paid);
    lines[index] = { ...line, prepaidCreditsApplied: line.prepaidCreditsApplied.plus(paid) };
    if (!paid.isZero()) paidLines.push({ index, amount: paid });
  }
  return { amount: moneyMax.minus(money), lines: paidLines };
}

/**
 * PRE_PAID wallets pay lines of their allowed types, usage lines first, the wallet with the
 * greatest balance first, never more than a line needs after its discounts (docs/domain.md 20.7).
 * Nothing is debited; the result says what is to be debited.
 */
export function applyPrepaidCredits<Line extends AdjustedLine<C>, C extends string>(
  lines: readonly Line[],
  { wallets, limit }: PrepaidContext<C>,
): PrepaidResult<Line, C> {
  const paid = [...lines];
  const debits: PrepaidDebit<C>[] = [];
  let left = atLeastZero(limit);
  for (const wallet of [...wallets].sort(byBalance)) {
    const balance = floorMoney(maxOf(ZERO, wallet.balance), limit.currency);
    const { amount } = payFrom<Line, C>(wallet, paid, lesserOf(left, balance));
    left = left.minus(amount);
    if (!amount.isZero()) debits.push({ walletId: wallet.id, amount });
  }
  return { lines: paid, debits };
}

/**
 * Which lines the debits of `applyPrepaidCredits` paid, debit by debit: the same lines again, with
 * what their discounts left of them.
 */
export function paidLines<C extends string>(
  lines: readonly AdjustedLine<C>[],
  wallets: readonly PrepaidWallet[],
  debits: readonly PrepaidDebit<C>[],
): readonly (readonly PaidLine<C>[])[] {
  const unpaid = lines.map((line) => ({
    ...line,
    prepaidCreditsApplied: line.prepaidCreditsApplied.minus(line.prepaidCreditsApplied),
  }));
  return debits.map(({ walletId, amount }) => {
    const wallet = wallets.find(({ id }) => id === walletId);
    return wallet === undefined ? [] : payFrom<AdjustedLine<C>, C>(wallet, unpaid, amount).lines;
  });
}
