import { Decimal, ZERO } from '../number/decimal.js';
import {
  boundedNumber,
  CALCULATED_DIGITS_MAX,
  VALUE_FRACTION_DIGITS,
} from '../number/numeric-text.js';

/** A fraction of whole numbers; the denominator is greater than 0, terms need not be the lowest. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

/**
 * A number without any rounding: a decimal, or a fraction where a quotient has no end in decimal
 * digits (1 / 3) or the digits of a decimal would be rounded.
 */
export type ExactNumber = Decimal | Fraction;

/** `Decimal` keeps this many significant digits; results that may need more become fractions. */
const DECIMAL_DIGITS = Decimal.precision;

const MAGNITUDE_LIMIT = 10n ** BigInt(CALCULATED_DIGITS_MAX);

/**
 * Digits of the numerator and of the denominator of a fraction. Terms are not brought to lowest
 * terms, which takes far longer than all else for long numbers; so a result has about as many
 * digits as the numbers that it comes from together. A hundred numbers of 39 digits stay below the
 * bound.
 */
export const FRACTION_DIGITS_MAX = 4_000;
const TERM_LIMIT = 10n ** BigInt(FRACTION_DIGITS_MAX);

function magnitudeOf(whole: bigint): bigint {
  return whole < 0n ? -whole : whole;
}

/** A fraction within the bounds of magnitude; null also when its terms have too many digits. */
function boundedFraction(numerator: bigint, denominator: bigint): ExactNumber | null {
  const magnitude = magnitudeOf(numerator);
  if (magnitude >= TERM_LIMIT || denominator >= TERM_LIMIT) return null;
  if (magnitude >= denominator * MAGNITUDE_LIMIT) return null;
  return magnitude * MAGNITUDE_LIMIT < denominator ? ZERO : { numerator, denominator };
}

/** How many digits stand after the point: 2 for 1.25; -3 for 7000, whose last three are zeros. */
function placesOf(number: Decimal): number {
  return number.precision() - number.e - 1;
}

/** Of decimals that were turned into fractions: an expression names a property more than once. */
const fractionsOfDecimals = new WeakMap<Decimal, Fraction>();

function fractionOf(number: ExactNumber): Fraction {
  if (!(number instanceof Decimal)) return number;
  const known = fractionsOfDecimals.get(number);
  if (known !== undefined) return known;
  const fraction = fractionOfDigits(number);
  fractionsOfDecimals.set(number, fraction);
  return fraction;
}

function fractionOfDigits(number: Decimal): Fraction {
  const [whole = '', places = ''] = number.toFixed().split('.');
  return {
    numerator: BigInt(`${whole}${places}`),
    denominator: 10n ** BigInt(places.length),
  };
}

/** Whether all digits of a sum, difference or remainder of the two fit into a decimal. */
function alignFully(left: Decimal, right: Decimal): boolean {
  // One place more for a sum that carries.
  const before = Math.max(left.e, right.e) + 2;
  return before + Math.max(placesOf(left), placesOf(right)) <= DECIMAL_DIGITS;
}

function productFits(left: Decimal, right: Decimal): boolean {
  return left.precision() + right.precision() <= DECIMAL_DIGITS;
}

type Calculate = (left: ExactNumber, right: ExactNumber) => ExactNumber | null;

/** Decimals where `decimals` has a result without rounding, else fractions. */
function operation(
  decimals: (left: Decimal, right: Decimal) => Decimal | null,
  fractions: (left: Fraction, right: Fraction) => ExactNumber | null,
): Calculate {
  return (left, right) => {
    if (left instanceof Decimal && right instanceof Decimal) {
      const result = decimals(left, right);
      if (result !== null) return boundedNumber(result);
    }
    return fractions(fractionOf(left), fractionOf(right));
  };
}

function sumOfFractions(left: Fraction, right: Fraction): ExactNumber | null {
  const [one, other] = [left.denominator, right.denominator];
  // Terms with one denominator, as in `v / 3 + w / 3`, do not grow.
  if (one === other) return boundedFraction(left.numerator + right.numerator, one);
  return boundedFraction(left.numerator * other + right.numerator * one, one * other);
}

/** The exact sum; null when it is out of bounds, as with all operations here. */
export const add: Calculate = operation(
  (left, right) => (alignFully(left, right) ? left.plus(right) : null),
  sumOfFractions,
);

export const subtract: Calculate = operation(
  (left, right) => (alignFully(left, right) ? left.minus(right) : null),
  (left, { numerator, denominator }) =>
    sumOfFractions(left, { numerator: -numerator, denominator }),
);

export const multiply: Calculate = operation(
  (left, right) => (productFits(left, right) ? left.times(right) : null),
  (left, right) =>
    boundedFraction(left.numerator * right.numerator, left.denominator * right.denominator),
);

/**
 * More places than a quotient with all its digits in a decimal has: it has at most as many digits
 * as a decimal, and begins at most twice as far behind the point as its operands.
 */
const PLACES = 10n ** BigInt(DECIMAL_DIGITS + 3 * CALCULATED_DIGITS_MAX);

/** Whether the quotient has an end in decimal digits; far quicker than the digits themselves. */
function hasEnd(left: Fraction, right: Fraction): boolean {
  const dividend = left.numerator * right.denominator;
  return (dividend * PLACES) % (left.denominator * right.numerator) === 0n;
}

/** The quotient as a decimal, when its digits come to an end; else null. The divisor is not 0. */
function evenQuotient(left: Decimal, right: Decimal): Decimal | null {
  if (right.precision() >= DECIMAL_DIGITS) return null;
  if (!hasEnd(fractionOf(left), fractionOf(right))) return null;
  const quotient = left.dividedBy(right);
  return productFits(quotient, right) && quotient.times(right).equals(left) ? quotient : null;
}

/** Null for a division by 0, too. */
export const divide: Calculate = (left, right) => (isZero(right) ? null : quotientOf(left, right));
const quotientOf = operation(evenQuotient, (left, right) => {
  const sign = right.numerator < 0n ? -1n : 1n;
  return boundedFraction(
    left.numerator * right.denominator * sign,
    left.denominator * right.numerator * sign,
  );
});

/**
 * The remainder of a division, with the sign of the number that is divided;
 * null when it is divided by 0.
 */
export const remainder: Calculate = (left, right) =>
  isZero(right) ? null : remainderOf(left, right);
const remainderOf = operation(
  (left, right) => (alignFully(left, right) ? left.modulo(right) : null),
  (left, right) =>
    boundedFraction(
      (left.numerator * right.denominator) % (right.numerator * left.denominator),
      left.denominator * right.denominator,
    ),
);

export function isZero(number: ExactNumber): boolean {
  return number instanceof Decimal ? number.isZero() : number.numerator === 0n;
}

export function negate(number: ExactNumber): ExactNumber {
  return number instanceof Decimal ? number.negated() : { ...number, numerator: -number.numerator };
}

export function absolute(number: ExactNumber): ExactNumber {
  return number instanceof Decimal
    ? number.abs()
    : { ...number, numerator: magnitudeOf(number.numerator) };
}

/** -1, 0 or 1. */
export function compare(left: ExactNumber, right: ExactNumber): number {
  if (left instanceof Decimal && right instanceof Decimal) return left.comparedTo(right);
  const [one, other] = [fractionOf(left), fractionOf(right)];
  const difference = one.numerator * other.denominator - other.numerator * one.denominator;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** The greatest whole number that is not above the number. */
export function floor(number: ExactNumber): Decimal {
  if (number instanceof Decimal) return number.floor();
  const { numerator, denominator } = number;
  const towardsZero = numerator / denominator;
  const isAbove = numerator < 0n && numerator % denominator !== 0n;
  return new Decimal((isAbove ? towardsZero - 1n : towardsZero).toString());
}

/** The least whole number that is not below the number. */
export function ceil(number: ExactNumber): Decimal {
  return number instanceof Decimal ? number.ceil() : floor(negate(number)).negated();
}

/** The nearest whole number; halves go away from 0, like every rounding of the product. */
export function round(number: ExactNumber): Decimal {
  if (number instanceof Decimal) return number.toDecimalPlaces(0, Decimal.ROUND_HALF_UP);
  const { numerator, denominator } = number;
  const half = numerator < 0n ? -denominator : denominator;
  return new Decimal(((2n * numerator + half) / (2n * denominator)).toString());
}

const VALUE_SCALE = 10n ** BigInt(VALUE_FRACTION_DIGITS);

/** `fraction × factor`, cut to the fraction digits of a value, not rounded (docs/domain.md 7.5). */
export function cutProduct(fraction: Fraction, factor: Decimal): Decimal {
  const { numerator, denominator } = fractionOf(factor);
  const scaled =
    (fraction.numerator * numerator * VALUE_SCALE) / (fraction.denominator * denominator);
  return new Decimal(`${scaled}e-${VALUE_FRACTION_DIGITS}`);
}
