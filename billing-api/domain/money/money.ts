import { Decimal, ZERO, plain } from '../../../contract/number/decimal.js';
import { minorDigitsOf } from './minor-digits.js';

/**
 * An amount of money: a whole number of minor units of its currency (docs/domain.md 6.2). Exact
 * charges, rates and quantities are decimals; `roundMoney` makes money of them, once.
 *
 * Only amounts of the same currency can be added, subtracted or compared. `C` is the currency as
 * far as the compiler knows it: code that serves every currency is generic in `C`, and then an
 * amount of another currency, known or not, does not compile. Where only `string` is known, mixing
 * currencies is a bug and throws.
 */
export class Money<in out C extends string = string> {
  readonly value: Decimal;
  readonly currency: C;

  /**
   * An amount that is stated or stored as money, so that there is nothing to round.
   * @throws RangeError for an amount with finer digits than the currency.
   */
  constructor(value: Decimal, currency: C) {
    if (value.decimalPlaces() > minorDigitsOf(currency)) {
      throw new RangeError(`unrounded amount ${plain(value)} for ${currency}`);
    }
    // Without the sign that a zero can have.
    this.value = value.isZero() ? ZERO : value;
    this.currency = currency;
  }

  /** @throws TypeError for another currency. */
  plus(other: Money<C>): Money<C> {
    return new Money(this.value.plus(this.#sameCurrency(other).value), this.currency);
  }

  /** @throws TypeError for another currency. */
  minus(other: Money<C>): Money<C> {
    return new Money(this.value.minus(this.#sameCurrency(other).value), this.currency);
  }

  /**
   * Less than 0 when this is the lesser amount, more than 0 when it is the greater one.
   * @throws TypeError for another currency.
   */
  comparedTo(other: Money<C>): number {
    return this.value.comparedTo(this.#sameCurrency(other).value);
  }

  isZero(): boolean {
    return this.value.isZero();
  }

  isAboveZero(): boolean {
    return this.value.greaterThan(ZERO);
  }

  #sameCurrency(other: Money<C>): Money<C> {
    if (other.currency === this.currency) return other;
    throw new TypeError(`${this.currency} and ${other.currency} are different currencies`);
  }
}

export function zeroMoney<C extends string>(currency: C): Money<C> {
  return new Money(ZERO, currency);
}

/** The sum of amounts of a currency; 0 of none. */
export function sumOfMoney<C extends string>(amounts: readonly Money<C>[], currency: C): Money<C> {
  return amounts.reduce((sum, amount) => sum.plus(amount), zeroMoney(currency));
}

/** The lesser of two amounts. */
export function lesserOf<C extends string>(left: Money<C>, right: Money<C>): Money<C> {
  return right.comparedTo(left) < 0 ? right : left;
}

/** The amount, or 0 where it is below 0. */
export function atLeastZero<C extends string>(money: Money<C>): Money<C> {
  return money.isAboveZero() ? money : zeroMoney(money.currency);
}

/**
 * A quotient is cut at the last digit of the precision. So a sum of quotients that should be half a
 * minor unit can come out a little lower, and would be rounded down. Rounding to this many fraction
 * digits beforehand corrects that, and changes no other amount: an exact value has fewer digits (18
 * each for a value, a price and a factor, and those of a price unit's rate), and no share of a
 * period comes that close to a half without being one.
 */
const SETTLED_DIGITS = 100;

/** A sum of quotients with the digits that were lost by cutting them. */
export function settled(value: Decimal): Decimal {
  return value.toDecimalPlaces(SETTLED_DIGITS, Decimal.ROUND_HALF_UP);
}

/**
 * `Round` of docs/domain.md 6.2: half-up away from zero to the currency's minor digits. For figures
 * that have a currency's digits without being money of it, such as amounts in a price unit.
 */
export function roundToMinorDigits(value: Decimal, currency: string): Decimal {
  const rounded = settled(value).toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_HALF_UP);
  return rounded.isZero() ? ZERO : rounded;
}

/**
 * A difference of charges, rounded: half of the smallest unit counts as charged, above 0 and below
 * it (docs/domain.md 23.8), so that what rounding leaves is never settled again.
 */
export function roundDifference(value: Decimal, currency: string): Decimal {
  const rounded = settled(value).toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_HALF_CEIL);
  return rounded.isZero() ? ZERO : rounded;
}

/**
 * The money of an exact charge, by `Round` of docs/domain.md 6.2. It is called once per line,
 * discount, tax, credit and proration charge.
 */
export function roundMoney<C extends string>(value: Decimal, currency: C): Money<C> {
  return new Money(roundToMinorDigits(value, currency), currency);
}

/**
 * The whole minor units in an amount of 0 or more: what can be paid from it (docs/domain.md 20.3).
 */
export function floorMoney<C extends string>(value: Decimal, currency: C): Money<C> {
  return new Money(value.toDecimalPlaces(minorDigitsOf(currency), Decimal.ROUND_FLOOR), currency);
}

/** Money as invoices, credit notes and payments show it: exactly the currency's minor digits. */
export function formatMoney<C extends string>({ value, currency }: Money<C>): string {
  return value.toFixed(minorDigitsOf(currency));
}
