import { compareTexts } from '../../../contract/compare-texts.js';
import { ZERO, maxOf, minOf, type Decimal } from '../../../contract/decimal.js';
import { floorMoney } from '../money.js';
import type { PriceType } from '../price/price-cadence.js';
import type { PrepaidDebit, PrepaidWallet } from './adjustments.js';
import type { AdjustedLine } from './adjusted-line.js';

export type PrepaidContext = {
  readonly wallets: readonly PrepaidWallet[];
  readonly currency: string;
  /** Subtotal minus discounts: the most that credits may pay in total. */
  readonly limit: Decimal;
};

/** The lines with their credits, and the debits of the wallets. */
export type PrepaidResult<Line extends AdjustedLine> = {
  readonly lines: readonly Line[];
  readonly debits: readonly PrepaidDebit[];
};

function byBalance(left: PrepaidWallet, right: PrepaidWallet): number {
  const balances = right.balance.comparedTo(left.balance);
  const ages = left.createdAtMs - right.createdAtMs;
  return balances || ages || compareTexts(left.id, right.id);
}

function typeOf({ lineItem }: AdjustedLine): PriceType {
  return lineItem?.price.type ?? 'FIXED';
}

function mayPay({ allowedPriceTypes }: PrepaidWallet, line: AdjustedLine): boolean {
  return allowedPriceTypes.includes('ALL') || allowedPriceTypes.includes(typeOf(line));
}

function needOf(line: AdjustedLine): Decimal {
  const { amount, lineItemDiscount, invoiceLevelDiscount, prepaidCreditsApplied } = line;
  const net = amount.minus(lineItemDiscount).minus(invoiceLevelDiscount);
  return maxOf(ZERO, net.minus(prepaidCreditsApplied));
}

/** Indexes of the lines in the order in which credits pay them: usage first. */
function payingOrder(lines: readonly AdjustedLine[]): readonly number[] {
  const indexes = [...lines.keys()];
  const isUsage = (index: number): boolean => {
    const line = lines[index];
    return line !== undefined && typeOf(line) === 'USAGE';
  };
  return [...indexes.filter(isUsage), ...indexes.filter((index) => !isUsage(index))];
}

/** Pays lines from one wallet and returns what it paid. */
function payFrom<Line extends AdjustedLine>(
  wallet: PrepaidWallet,
  lines: Line[],
  moneyMax: Decimal,
): Decimal {
  let money = moneyMax;
  for (const index of payingOrder(lines)) {
    const line = lines[index];
    if (line === undefined || !mayPay(wallet, line)) continue;
    const paid = minOf(money, needOf(line));
    money = money.minus(paid);
    lines[index] = { ...line, prepaidCreditsApplied: line.prepaidCreditsApplied.plus(paid) };
  }
  return moneyMax.minus(money);
}

/**
 * PRE_PAID wallets pay lines of their allowed types, usage lines first, the wallet with the
 * greatest balance first, never more than a line needs after its discounts (docs/domain.md 20.7).
 * Nothing is debited; the result says what is to be debited.
 */
export function applyPrepaidCredits<Line extends AdjustedLine>(
  lines: readonly Line[],
  { wallets, currency, limit }: PrepaidContext,
): PrepaidResult<Line> {
  const paid = [...lines];
  const debits: PrepaidDebit[] = [];
  let left = maxOf(ZERO, limit);
  for (const wallet of [...wallets].sort(byBalance)) {
    const money = minOf(left, floorMoney(maxOf(ZERO, wallet.balance), currency));
    const amount = payFrom(wallet, paid, money);
    left = left.minus(amount);
    if (!amount.isZero()) debits.push({ walletId: wallet.id, amount });
  }
  return { lines: paid, debits };
}
