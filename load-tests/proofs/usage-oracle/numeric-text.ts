import { compare, fraction, isNegative, negate, zero, type Fraction } from './fraction.js';

/** Sign, digits before and after the point, exponent; `.` alone has no digit and is no number. */
const NUMBER = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const LIMIT = fraction(10n ** 39n);
/** Far beyond what a multiplier, which is at least 10^-18, could bring below 10^39. */
const TOO_GREAT_POWER = 100n;
/** Below this power no multiplier of a case brings a digit to the 18th place: taken as 0. */
const TOO_SMALL_POWER = -1000n;

/** Whether the absolute value is one the product can hold: below 10^39. */
export function isInRange(value: Fraction): boolean {
  return compare(isNegative(value) ? negate(value) : value, LIMIT) < 0;
}

/**
 * The number that a text states, exactly: optional sign, digits with an optional fraction, optional
 * exponent. Null when it is not a number or reaches 10^100.
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
  if (leadingPower >= TOO_GREAT_POWER) return null;
  if (leadingPower < TOO_SMALL_POWER) return zero;
  return power < 0n ? fraction(digits, 10n ** -power) : fraction(digits * 10n ** power);
}
