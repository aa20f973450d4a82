import { Decimal } from '../number/decimal.js';
import { decimalFromNumericText } from '../number/numeric-text.js';
import { compare, isZero, type ExactNumber } from './exact-number.js';

/** What a part of an expression yields; null is a failure, which makes the event's value 0. */
export type ExpressionValue = ExactNumber | string | boolean;
export type Evaluate = (textOf: (property: string) => string | null) => ExpressionValue | null;

/** Numbers of the texts that were read last: an expression names a property more than once. */
const numbersOfTexts = new Map<string, ExactNumber | null>();
const TEXTS_MAX = 64;

/**
 * Digits of a number that a text means, without zeros at its ends. Such numbers are calculated with
 * as decimals; longer ones cost ten times as much, and no event means them.
 */
export const DIGITS_MAX = Decimal.precision;

/** The number of a text; null when it means none, or one of too many digits. */
export function numberOfText(text: string): ExactNumber | null {
  const known = numbersOfTexts.get(text);
  if (known !== undefined) return known;
  if (numbersOfTexts.size >= TEXTS_MAX) numbersOfTexts.clear();
  const read = decimalFromNumericText(text);
  const number = read === null || read.precision() > DIGITS_MAX ? null : read;
  numbersOfTexts.set(text, number);
  return number;
}

/** The number of a part: a numeric text is one, a truth value is none. */
export function numberOf(value: ExpressionValue | null): ExactNumber | null {
  if (value === null || typeof value === 'boolean') return null;
  return typeof value === 'string' ? numberOfText(value) : value;
}

/**
 * Whether a condition holds: a truth value is itself, a number when it is not 0, a text unless it
 * is empty, `false` or a number that is 0, since truth values of events arrive as texts.
 */
export function isTrue(value: ExpressionValue): boolean {
  if (typeof value === 'boolean') return value;
  const number = numberOf(value);
  if (number !== null) return !isZero(number);
  return value !== '' && value !== 'false';
}

/**
 * Equal as numbers when one side is a number and the other means one; equal as texts when both are
 * texts, so `1.0` and `1` of two properties differ.
 */
export function isEqual(left: ExpressionValue, right: ExpressionValue): boolean {
  if (typeof left === 'object' || typeof right === 'object') {
    return compareNumbers(left, right) === 0;
  }
  return String(left) === String(right);
}

/** -1, 0 or 1 as numbers; null when a side means no number. */
export function compareNumbers(left: ExpressionValue, right: ExpressionValue): number | null {
  const [one, other] = [numberOf(left), numberOf(right)];
  return one === null || other === null ? null : compare(one, other);
}
