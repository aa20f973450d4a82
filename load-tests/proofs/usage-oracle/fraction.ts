/** An exact rational number: numerator over a denominator that is greater than 0. */
export type Fraction = { readonly numerator: bigint; readonly denominator: bigint };

function greatestCommonDivisor(left: bigint, right: bigint): bigint {
  let [a, b] = [left < 0n ? -left : left, right];
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** `numerator / denominator` in lowest terms. @throws RangeError when the denominator is 0. */
export function fraction(numerator: bigint, denominator = 1n): Fraction {
  if (denominator === 0n) throw new RangeError('a fraction has no denominator 0');
  const sign = denominator < 0n ? -1n : 1n;
  const divisor = sign * greatestCommonDivisor(numerator, denominator * sign);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

export const zero = fraction(0n);

export function add(left: Fraction, right: Fraction): Fraction {
  return fraction(
    left.numerator * right.denominator + right.numerator * left.denominator,
    left.denominator * right.denominator,
  );
}

export function negate({ numerator, denominator }: Fraction): Fraction {
  return { numerator: -numerator, denominator };
}

export function multiply(left: Fraction, right: Fraction): Fraction {
  return fraction(left.numerator * right.numerator, left.denominator * right.denominator);
}

/** @throws RangeError when `right` is 0. */
export function divide(left: Fraction, right: Fraction): Fraction {
  return fraction(left.numerator * right.denominator, left.denominator * right.numerator);
}

/** Below 0 when `left` is smaller, 0 when equal, above 0 when greater. */
export function compare(left: Fraction, right: Fraction): number {
  const difference = left.numerator * right.denominator - right.numerator * left.denominator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function isNegative({ numerator }: Fraction): boolean {
  return numerator < 0n;
}

/** The whole number next to `value` in the direction of 0. */
export function truncate({ numerator, denominator }: Fraction): Fraction {
  return fraction(numerator / denominator);
}

/** The greatest whole number that is not above `value`. */
export function floor(value: Fraction): Fraction {
  const towardsZero = truncate(value);
  return compare(towardsZero, value) > 0 ? add(towardsZero, fraction(-1n)) : towardsZero;
}

/** The nearest whole number; halves go away from 0. */
export function round(value: Fraction): Fraction {
  const half = fraction(isNegative(value) ? -1n : 1n, 2n);
  return truncate(add(value, half));
}

const FRACTION_DIGITS = 18;
const SCALE = fraction(10n ** BigInt(FRACTION_DIGITS));

/** Cut to 18 fraction digits, towards 0 (docs/domain.md 7.5). */
export function cutDigits(value: Fraction): Fraction {
  return divide(truncate(multiply(value, SCALE)), SCALE);
}

/** Rounded half-up, away from 0, to 18 fraction digits (docs/domain.md 7.5). */
export function roundDigits(value: Fraction): Fraction {
  return divide(round(multiply(value, SCALE)), SCALE);
}

/**
 * Plain decimal digits without exponent and without trailing zeros (docs/domain.md 6.6).
 * @throws RangeError when the value has more than 18 fraction digits: nothing is rounded unseen.
 */
export function toText(value: Fraction): string {
  const scaled = multiply(value, SCALE);
  if (scaled.denominator !== 1n) throw new RangeError('more than 18 fraction digits');
  const magnitude = isNegative(scaled) ? -scaled.numerator : scaled.numerator;
  const digits = magnitude.toString().padStart(FRACTION_DIGITS + 1, '0');
  const whole = digits.slice(0, -FRACTION_DIGITS);
  const rest = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '');
  return `${isNegative(scaled) ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`;
}
