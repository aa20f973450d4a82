import { Decimal, ONE, ZERO, plain, sumOf } from '../../../contract/number/decimal.js';
import { minorDigitsOf } from './minor-digits.js';
import { Money, roundMoney, settled } from './money.js';

/** The parts of a split amount, each with the item that it falls to, in the order of the items. */
export type AmountParts<Item, C extends string = string> = readonly (readonly [
  item: Item,
  part: Money<C>,
])[];

/**
 * The share of an item in an amount, cut into whole minor units and a remainder. Only remainders of
 * one split can be compared with each other.
 */
type Cut<Item> = { readonly item: Item; readonly whole: Decimal; readonly rest: Decimal };

/** One minor unit with the sign of an amount: 0.01 or -0.01 for usd. */
function signedUnitOf<C extends string>({ value, currency }: Money<C>): Decimal {
  return new Decimal(10).pow(-minorDigitsOf(currency)).times(value.isNegative() ? -1 : 1);
}

/**
 * Gives one unit each to the greatest remainders until the amount is reached; ties go to the
 * earlier share.
 */
function dealOut<Item, C extends string>(
  amount: Money<C>,
  cuts: readonly Cut<Item>[],
): AmountParts<Item, C> {
  const { currency } = amount;
  const unit = signedUnitOf(amount);
  const units = amount.value.dividedBy(unit);
  const missing = units.minus(cuts.reduce((sum, cut) => sum.plus(cut.whole), ZERO)).toNumber();
  if (missing < 0 || missing > cuts.length) {
    throw new RangeError(`shares do not add up to the amount: ${missing} units are left`);
  }
  // The sort is stable, so that equal remainders stay in the order of the items.
  const byRest = cuts.toSorted((left, right) => right.rest.comparedTo(left.rest));
  const raised = new Set(byRest.slice(0, missing));
  return cuts.map((cut) => {
    const count = raised.has(cut) ? cut.whole.plus(ONE) : cut.whole;
    return [cut.item, new Money(count.times(unit), currency)];
  });
}

/**
 * Largest-remainder split of an amount by the shares of items (docs/domain.md 6.5).
 *
 * The amount is the sum of the shares, rounded. The parts add up to the amount, and each is its
 * share rounded down or up. A negative amount is split like its opposite, so that a reversal takes
 * back exactly what the charge gave.
 * @throws RangeError when the shares do not add up to the amount.
 */
export function allocate<Item, C extends string>(
  amount: Money<C>,
  items: readonly Item[],
  shareOf: (item: Item) => Decimal,
): AmountParts<Item, C> {
  const sum = sumOf(items.map(shareOf));
  if (roundMoney(sum, amount.currency).comparedTo(amount) !== 0) {
    throw new RangeError(`shares of ${plain(sum)} do not add up to ${plain(amount.value)}`);
  }
  const unit = signedUnitOf(amount);
  const cuts = items.map((item) => {
    const units = settled(shareOf(item).dividedBy(unit));
    const whole = units.floor();
    return { item, whole, rest: units.minus(whole) };
  });
  return dealOut(amount, cuts);
}

/**
 * Largest-remainder split of an amount in proportion to the weights of items, none negative and one
 * at least positive. The remainders are compared before they are divided by the sum of the weights,
 * so equal ones stay equal and the unit goes to the earlier item; quotients could differ in the
 * last digit.
 * @throws RangeError for weights that are negative or all 0.
 */
export function allocateByWeight<Item, C extends string>(
  amount: Money<C>,
  items: readonly Item[],
  weightOf: (item: Item) => Decimal,
): AmountParts<Item, C> {
  const units = amount.value.dividedBy(signedUnitOf(amount));
  const weights = items.map(weightOf);
  const total = sumOf(weights);
  if (!total.greaterThan(ZERO) || weights.some((weight) => weight.lessThan(ZERO))) {
    throw new RangeError(`cannot split ${plain(amount.value)} by weights of ${plain(total)}`);
  }
  const cuts = items.map((item) => {
    const numerator = units.times(weightOf(item));
    const whole = numerator.divToInt(total);
    return { item, whole, rest: numerator.minus(whole.times(total)) };
  });
  return dealOut(amount, cuts);
}
