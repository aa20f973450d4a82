import { Decimal, ONE, ZERO, plain, sumOf } from '../../contract/decimal.js';

/** Minor digits that are not 2 (docs/domain.md 6.2). */
const MINOR_DIGITS: ReadonlyMap<string, number> = new Map([
  ...currencies('bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf', 0),
  ...currencies('bhd iqd jod kwd lyd omr tnd', 3),
  ...currencies('clf uyw', 4),
]);

function currencies(codes: string, digits: number): (readonly [string, number])[] {
  return codes.split(' ').map((code) => [code, digits] as const);
}

/** Digits after the point of an amount of a currency (docs/domain.md 6.2); the code in any case. */
export function minorDigitsOf(currency: string): number {
  return MINOR_DIGITS.get(currency.toLowerCase()) ?? 2;
}

/**
 * A quotient is cut at the last digit of the precision. So a sum of quotients that should be half a
 * minor unit can come out a little lower, and would be rounded down. Rounding to this many fraction
 * digits beforehand corrects that, and changes no other amount: an exact value has fewer digits (18
 * each for a value, a price and a factor, and those of a price unit's rate), and no share of a
 * period comes that close to a half without being one.
 */
const SETTLED_DIGITS = 100;

function settled(value: Decimal): Decimal {
  return value.toDecimalPlaces(SETTLED_DIGITS, Decimal.ROUND_HALF_UP);
}

/**
 * `Round` of docs/domain.md 6.2: half-up away from zero to the currency's minor digits. The only
 * rounding of money there is; it is called once per line, discount, tax, credit and proration
 * charge.
 */
export function roundMoney(value: Decimal, currency: string): Decimal {
  const rounded = settled(value).toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_HALF_UP);
  return rounded.isZero() ? ZERO : rounded;
}

/**
 * The whole minor units in an amount of 0 or more: what can be paid from it (docs/domain.md 20.3).
 */
export function floorMoney(value: Decimal, currency: string): Decimal {
  return value.toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_FLOOR);
}

/**
 * Money as invoices, credit notes and payments show it: exactly the currency's minor digits.
 * @throws RangeError for a value with finer digits: writing is no place to round.
 */
export function formatMoney(value: Decimal, currency: string): string {
  const digits = minorDigitsOf(currency);
  if (value.decimalPlaces() > digits) {
    throw new RangeError(`unrounded amount ${plain(value)} for ${currency}`);
  }
  return (value.isZero() ? ZERO : value).toFixed(digits);
}

/** One minor unit: 0.01 for usd. */
function minorUnit(currency: string): Decimal {
  return new Decimal(10).pow(-minorDigitsOf(currency));
}

/** The parts of a split amount, each with the item that it falls to, in the order of the items. */
export type AmountParts<Item> = readonly (readonly [item: Item, part: Decimal])[];

/**
 * The share of an item in an amount, cut into whole minor units and a remainder. Only remainders of
 * one split can be compared with each other.
 */
type Cut<Item> = { readonly item: Item; readonly whole: Decimal; readonly rest: Decimal };

/**
 * Gives one unit each to the greatest remainders until the amount is reached; ties go to the
 * earlier share.
 */
function dealOut<Item>(
  units: Decimal,
  cuts: readonly Cut<Item>[],
  unit: Decimal,
): AmountParts<Item> {
  const missing = units.minus(cuts.reduce((sum, cut) => sum.plus(cut.whole), ZERO)).toNumber();
  if (missing < 0 || missing > cuts.length) {
    throw new RangeError(`shares do not add up to the amount: ${missing} units are left`);
  }
  // The sort is stable, so that equal remainders stay in the order of the items.
  const byRest = cuts.toSorted((left, right) => right.rest.comparedTo(left.rest));
  const raised = new Set(byRest.slice(0, missing));
  return cuts.map((cut) => {
    const count = raised.has(cut) ? cut.whole.plus(ONE) : cut.whole;
    return [cut.item, moneyOf(count, unit)];
  });
}

/**
 * Largest-remainder split of an amount by the shares of items (docs/domain.md 6.5).
 *
 * `amount` is a whole number of minor units and equals the sum of the shares, or that sum rounded.
 * The parts are whole minor units, add up to the amount, and each is its share rounded down or up.
 * A negative amount is split like its opposite, so that a reversal takes back exactly what the
 * charge gave.
 * @throws RangeError when the shares do not add up to the amount, or it has finer digits.
 */
export function allocate<Item>(
  amount: Decimal,
  items: readonly Item[],
  { shareOf, currency }: { readonly shareOf: (item: Item) => Decimal; readonly currency: string },
): AmountParts<Item> {
  const unit = minorUnit(currency).times(amount.isNegative() ? -1 : 1);
  const sum = items.reduce((total, item) => total.plus(shareOf(item)), ZERO);
  if (!roundMoney(sum, currency).equals(amount)) {
    throw new RangeError(`shares of ${plain(sum)} do not add up to ${plain(amount)}`);
  }
  const cuts = items.map((item) => {
    const units = settled(shareOf(item).dividedBy(unit));
    const whole = units.floor();
    return { item, whole, rest: units.minus(whole) };
  });
  return dealOut(amount.dividedBy(unit), cuts, unit);
}

/**
 * Largest-remainder split of an amount in proportion to the weights of items, none negative and one
 * at least positive. The remainders are compared before they are divided by the sum of the weights,
 * so equal ones stay equal and the unit goes to the earlier item; quotients could differ in the
 * last digit.
 * @throws RangeError for an amount with finer digits than the currency, or for weights that are
 *   negative or all 0.
 */
export function allocateByWeight<Item>(
  amount: Decimal,
  items: readonly Item[],
  { weightOf, currency }: { readonly weightOf: (item: Item) => Decimal; readonly currency: string },
): AmountParts<Item> {
  const unit = minorUnit(currency).times(amount.isNegative() ? -1 : 1);
  const units = amount.dividedBy(unit);
  const weights = items.map(weightOf);
  const total = sumOf(weights);
  if (!units.isInteger() || !total.isPositive() || total.isZero() || weights.some(isBelowZero)) {
    throw new RangeError(`cannot split ${plain(amount)} by weights of ${plain(total)}`);
  }
  const cuts = items.map((item) => {
    const numerator = units.times(weightOf(item));
    const whole = numerator.divToInt(total);
    return { item, whole, rest: numerator.minus(whole.times(total)) };
  });
  return dealOut(units, cuts, unit);
}

function isBelowZero(value: Decimal): boolean {
  return value.isNegative() && !value.isZero();
}

function moneyOf(units: Decimal, unit: Decimal): Decimal {
  return units.isZero() ? ZERO : units.times(unit);
}

/**
 * A price's amount as people read it (docs/domain.md 8): the narrow symbol directly before the
 * amount, or the upper-case code and a space where the currency has none. The amount is a rate and
 * keeps its own digits: `$0.0025`.
 */
export function displayAmount(amount: Decimal, currency: string): string {
  const code = currency.toUpperCase();
  const symbol = narrowSymbolOf(code);
  return symbol === code ? `${code} ${plain(amount)}` : `${symbol}${plain(amount)}`;
}

function narrowSymbolOf(code: string): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
    currencyDisplay: 'narrowSymbol',
  });
  return format.formatToParts(0).find((part) => part.type === 'currency')?.value ?? code;
}
