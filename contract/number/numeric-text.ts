import { Decimal, ZERO } from './decimal.js';

/** Sign, digits with or without a point, exponent; no blanks, no hexadecimal, no infinity. */
const NUMERIC_TEXT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Longer than any number that an event can mean; bounds the time that reading one takes. */
const NUMERIC_TEXT_LENGTH_MAX = 1_000;

/** Fraction digits that a value keeps (docs/domain.md 7.5); the scale of the stored decimals. */
export const VALUE_FRACTION_DIGITS = 18;
/**
 * Values are smaller than 10^39 in magnitude: the stored decimals have 58 digits before the point,
 * so 10^14 of the greatest values, each times the milliseconds of a minute, still add up exactly.
 */
export const VALUE_INTEGER_DIGITS = 39;

/**
 * Numbers that are calculated with lie between 10^-100 and 10^100 in magnitude. Without the bound a
 * remainder of `1e999999999` would have a thousand million digits to work through.
 */
export const CALCULATED_DIGITS_MAX = 100;

/** The number itself, 0 when it is too small to matter, null when it is too large or infinite. */
export function boundedNumber(number: Decimal): Decimal | null {
  if (number.isZero()) return ZERO;
  if (!number.isFinite() || number.e >= CALCULATED_DIGITS_MAX) return null;
  return number.e < -CALCULATED_DIGITS_MAX ? ZERO : number;
}

/** The number a property text means, exactly; null when it means none (docs/domain.md 7.5). */
export function decimalFromNumericText(text: string): Decimal | null {
  if (text.length > NUMERIC_TEXT_LENGTH_MAX || !NUMERIC_TEXT.test(text)) return null;
  return boundedNumber(new Decimal(text));
}

/** Holds the product of the longest text and the longest multiplier whole. */
const Wide = Decimal.clone({ precision: 2 * NUMERIC_TEXT_LENGTH_MAX });

/**
 * The product without any rounding. A product rounded to the usual 160 digits could round up to the
 * next digit that a cut keeps.
 */
export function exactProduct(number: Decimal, factor: Decimal): Decimal {
  return new Decimal(new Wide(number).times(factor));
}

/**
 * Cut, not rounded, to the fraction digits of a value; null when the magnitude is out of range.
 * Looks at the exponent before it touches digits, so `1e999999999` costs nothing.
 */
export function cutToValue(number: Decimal): Decimal | null {
  if (number.isZero()) return ZERO;
  if (number.e >= VALUE_INTEGER_DIGITS) return null;
  if (number.e < -VALUE_FRACTION_DIGITS) return ZERO;
  return number.toDecimalPlaces(VALUE_FRACTION_DIGITS, Decimal.ROUND_DOWN);
}
