import { Decimal as Library } from 'decimal.js';

/**
 * The only decimal constructor of the project; every quantity and amount is one of these.
 *
 * Precision: a quantity has at most 76 digits (ClickHouse `Decimal256`), an amount 31 (13 before
 * and 18 after the point), a factor 31; their product has 138. 160 leaves room for a division on
 * top, so no intermediate result of a billing run is ever cut at a digit that changes an amount.
 * Numbers are refused at run time by `decimalOf`, since a float has lost digits before it arrives.
 */
export const Decimal = Library.clone({
  precision: 160,
  rounding: Library.ROUND_HALF_UP,
  toExpNeg: -9e15,
  toExpPos: 9e15,
});
export type Decimal = InstanceType<typeof Decimal>;

export const ZERO: Decimal = new Decimal(0);
export const ONE: Decimal = new Decimal(1);

/** Adds an amount to the sum of a key; the first amount of a key is its sum. */
export function addAt<K>(sums: Map<K, Decimal>, key: K, amount: Decimal): void {
  // Absent means zero: this is the first amount of the key.
  sums.set(key, (sums.get(key) ?? ZERO).plus(amount));
}

const PLAIN_DECIMAL = /^-?\d+(?:\.\d+)?$/;
const FRACTION_DIGITS_MAX = 18;
const MAGNITUDE_MAX = new Decimal('1000000000000');

export type DecimalProblem = 'not_a_decimal' | 'too_many_fraction_digits' | 'too_large';

/**
 * Reads a plain decimal text (`-?digits[.digits]`) that is known to be good, as from our own
 * database.
 */
export function decimalOf(text: string): Decimal {
  if (!PLAIN_DECIMAL.test(text))
    throw new TypeError(`not a plain decimal text: ${text.slice(0, 60)}`);
  return new Decimal(text);
}

const SMALL_COUNTS = Array.from({ length: 1_000 }, (_, count) => new Decimal(count));

/** A count as a decimal. Small ones are shared: a month has 43,200 minutes, and few counts. */
export function decimalOfCount(count: number): Decimal {
  return SMALL_COUNTS[count] ?? new Decimal(count);
}

/**
 * Reads an amount, quantity or rate of a request (docs/domain.md 3.1): no exponent, at most 18
 * fraction digits, magnitude at most 10^12. The length is looked at first, so a text of a million
 * digits costs nothing.
 */
export function parseRequestDecimal(text: string): Decimal | DecimalProblem {
  if (text.length > 1024 || !PLAIN_DECIMAL.test(text)) {
    return /^-?\d+$/.test(text.slice(0, 1024)) && text.length > 1024
      ? 'too_large'
      : 'not_a_decimal';
  }
  const fraction = text.split('.')[1] ?? '';
  if (fraction.length > FRACTION_DIGITS_MAX) return 'too_many_fraction_digits';
  const value = new Decimal(text);
  return value.abs().greaterThan(MAGNITUDE_MAX) ? 'too_large' : value;
}

/**
 * Plain digits without exponent and without trailing zeros: the wire form of quantities and rates.
 */
export function plain(value: Decimal): string {
  return value.isZero() ? '0' : value.toFixed();
}

/** The sum of decimals, exact; 0 of none. */
export function sumOf(values: readonly Decimal[]): Decimal {
  return values.reduce((sum, value) => sum.plus(value), ZERO);
}

/** The greater of two decimals; the first when they are equal. */
export function maxOf(left: Decimal, right: Decimal): Decimal {
  return right.greaterThan(left) ? right : left;
}

/** The lesser of two decimals; the first when they are equal. */
export function minOf(left: Decimal, right: Decimal): Decimal {
  return right.lessThan(left) ? right : left;
}
