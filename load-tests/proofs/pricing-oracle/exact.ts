import {
  add,
  compare,
  divide,
  fraction,
  multiply,
  negate,
  round,
  zero,
  type Fraction,
} from '../usage-oracle/fraction.js';
import { readNumber } from '../usage-oracle/numeric-text.js';

/** The number that a decimal text states. @throws RangeError when the text is no number. */
export function exact(text: string): Fraction {
  const value = readNumber(text);
  if (value === null) throw new RangeError(`not a number: ${text}`);
  return value;
}

export function whole(value: number): Fraction {
  return fraction(BigInt(value));
}

export const one = whole(1);

export function subtract(left: Fraction, right: Fraction): Fraction {
  return add(left, negate(right));
}

export function sum(values: readonly Fraction[]): Fraction {
  return values.reduce(add, zero);
}

export function smaller(left: Fraction, right: Fraction): Fraction {
  return compare(left, right) <= 0 ? left : right;
}

export function greater(left: Fraction, right: Fraction): Fraction {
  return compare(left, right) >= 0 ? left : right;
}

export function isPositive(value: Fraction): boolean {
  return compare(value, zero) > 0;
}

/** Half-up, away from zero, to a number of fraction digits. */
export function roundTo(places: number, value: Fraction): Fraction {
  const scale = fraction(10n ** BigInt(places));
  return divide(round(multiply(value, scale)), scale);
}

/** All digits of a value that has an end, without trailing zeros. @throws RangeError without. */
export function exactText(value: Fraction): string {
  let [places, scaled] = [0, value];
  for (; scaled.denominator !== 1n; places += 1) {
    if (places > 100) throw new RangeError('the digits have no end');
    scaled = multiply(scaled, whole(10));
  }
  const digits = scaled.numerator.toString().padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
