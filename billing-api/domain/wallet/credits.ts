import { Decimal, maxOf, minOf, plain, ZERO } from '../../../contract/number/decimal.js';
import { roundMoney } from '../money/money.js';

/** Credits have at most so many fraction digits. */
export const CREDIT_DIGITS = 12;

/** The credits that so much money is worth at a rate (docs/domain.md 20.3, 20.4). */
export function creditsOfMoney(money: Decimal, rate: Decimal): Decimal {
  return money.dividedBy(rate).toDecimalPlaces(CREDIT_DIGITS, Decimal.ROUND_HALF_UP);
}

/** What credits are worth in money, exact. */
export function moneyOfCredits(credits: Decimal, rate: Decimal): Decimal {
  return credits.times(rate);
}

/** What a wallet says of the price of its credits. */
type CreditPrice = { readonly currency: string; readonly topup_conversion_rate: Decimal };

/** What credits of a wallet cost that are bought (docs/domain.md 20.4). */
export function priceOf(credits: Decimal, { currency, topup_conversion_rate: rate }: CreditPrice) {
  return roundMoney(credits.times(rate), currency).value;
}

/** Why so few credits are not sold, which would cost nothing; null when they cost something. */
export function priceProblem(credits: Decimal, wallet: CreditPrice): string | null {
  if (!priceOf(credits, wallet).isZero()) return null;
  const { currency, topup_conversion_rate: rate } = wallet;
  return `must be more: at ${plain(rate)} ${currency} for one, ${plain(credits)} credits would cost nothing`;
}

/** What is left of a new credit, which fills a balance below 0 first (docs/domain.md 20.3). */
export function availableOfNew(credits: Decimal, balanceBefore: Decimal): Decimal {
  const missing = maxOf(ZERO, balanceBefore.negated());
  return maxOf(ZERO, credits.minus(missing));
}

/** The credits that a debit of money takes of a wallet: at most what it has. */
export function creditsToTake(money: Decimal, rate: Decimal, available: Decimal): Decimal {
  return minOf(creditsOfMoney(money, rate), available);
}

/**
 * The credits that pay money in full. Those that are worth it are enough, though rounding asks for
 * some more; of fewer as many are asked for as are missing, too.
 */
export function creditsToPay(money: Decimal, rate: Decimal, available: Decimal): Decimal {
  const isWorth = moneyOfCredits(available, rate).greaterThanOrEqualTo(money);
  return isWorth ? creditsToTake(money, rate, available) : creditsOfMoney(money, rate);
}

/** A bonus from so many purchased credits on (docs/domain.md 20.4). */
export type BonusSlab = {
  readonly threshold: Decimal;
  readonly type: 'flat' | 'percentage';
  readonly value: Decimal;
};

/** The credits that a purchase gets on top: of the greatest threshold that it reaches. */
export function bonusOf(purchased: Decimal, slabs: readonly BonusSlab[]): Decimal {
  const reached = slabs.filter(({ threshold }) => threshold.lessThanOrEqualTo(purchased));
  const [best] = reached.sort((left, right) => right.threshold.comparedTo(left.threshold));
  if (best === undefined) return ZERO;
  if (best.type === 'flat') return best.value;
  const share = purchased.times(best.value).dividedBy(100);
  return share.toDecimalPlaces(CREDIT_DIGITS, Decimal.ROUND_HALF_UP);
}
