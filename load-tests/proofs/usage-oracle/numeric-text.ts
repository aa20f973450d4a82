import {
  compare,
  fraction,
  isNegative,
  multiply,
  negate,
  zero,
  type Fraction,
} from './fraction.js';

/** Sign, digits before and after the point, exponent; `.` alone has no digit and is no number. */
const NUMBER = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const LIMIT = fraction(10n ** 39n);
/** Numbers that are calculated with lie between 10^-100 and 10^100 (docs/domain.md 7.5). */
const CALCULATED_POWER = 100n;
const CALCULATED_LIMIT = fraction(10n ** CALCULATED_POWER);

/** Null from 10^100 on, 0 below 10^-100. */
export function boundedNumber(value: Fraction): Fraction | null {
  const magnitude = isNegative(value) ? negate(value) : value;
  if (compare(magnitude, CALCULATED_LIMIT) >= 0) return null;
  return compare(multiply(magnitude, CALCULATED_LIMIT), fraction(1n)) < 0 ? zero : value;
}

/** Whether the absolute value is one the product can hold: below 10^39. */
export function isInRange(value: Fraction): boolean {
  return compare(isNegative(value) ? negate(value) : value, LIMIT) < 0;
}

/**
 * The number that a text states, exactly: optional sign, digits with an optional fraction, optional
 * exponent. Null when it is not a number or reaches 10^100; 0 when it is below 10^-100.
 */
export function readNumber(text: string): Fraction | null {
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const [, sign, whole, decimals = '', exponent = '0'] = match;
  const digits = BigInt(`${whole}${decimals}`);
  const power = BigInt(exponent) - BigInt(decimals.length);
  return scaledBy(power, sign === '-' ? -digits : digits);
}

/** `digits × 10^power`; the power is looked at first since it may be beyond any computing. */
function scaledBy(power: bigint, digits: bigint): Fraction | null {
  if (digits === 0n) return zero;
  const magnitude = digits < 0n ? -digits : digits;
  const leadingPower = power + BigInt(magnitude.toString().length) - 1n;
  if (leadingPower >= CALCULATED_POWER) return null;
  if (leadingPower < -CALCULATED_POWER) return zero;
  return power < 0n ? fraction(digits, 10n ** -power) : fraction(digits * 10n ** power);
}
