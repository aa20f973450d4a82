import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as reference from '../../load-tests/proofs/usage-oracle/fraction.js';
import { boundedNumber, readNumber } from '../../load-tests/proofs/usage-oracle/numeric-text.js';
import { Decimal, plain } from '../number/decimal.js';
import { decimalFromNumericText } from '../number/numeric-text.js';
import {
  absolute,
  add,
  ceil,
  compare,
  cutProduct,
  divide,
  floor,
  FRACTION_DIGITS_MAX,
  multiply,
  negate,
  remainder,
  round,
  subtract,
  type ExactNumber,
  type Fraction,
} from './exact-number.js';

/** A number beside the same number as an independent fraction in lowest terms. */
type Pair = { readonly number: ExactNumber; readonly expected: Fraction };

function needed<Value>(value: Value | null): Value {
  if (value === null) throw new Error('a number of the test cannot be read');
  return value;
}

function pairOf(text: string): Pair {
  return { number: needed(decimalFromNumericText(text)), expected: needed(readNumber(text)) };
}

/** Lowest terms; `none` where there is no number. */
function told(number: ExactNumber | Fraction | null): string {
  if (number === null) return 'none';
  const exact = number instanceof Decimal ? needed(readNumber(plain(number))) : number;
  const { numerator, denominator } = reference.fraction(exact.numerator, exact.denominator);
  return `${numerator}/${denominator}`;
}

function quotientOf(left: Pair, right: Pair): Pair {
  if (right.expected.numerator === 0n) return left;
  const expected = reference.divide(left.expected, right.expected);
  return { number: needed(divide(left.number, right.number)), expected };
}

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 40 });
const decimal = fc
  .oneof(
    fc.tuple(digits, fc.integer({ min: -45, max: 5 })).map(([text, power]) => `${text}e${power}`),
    fc.integer({ min: -12, max: 12 }).map(String),
    // Too many digits for a decimal that is calculated with.
    fc.tuple(digits, digits).map(([one, other]) => `-${one}.${other}${'3'.repeat(170)}`),
  )
  .map(pairOf);
/** Decimals, quotients that come out even, and quotients that do not. */
const pair: fc.Arbitrary<Pair> = fc.oneof(
  decimal,
  fc.tuple(decimal, decimal).map(([left, right]) => quotientOf(left, right)),
);

function remainderOf(left: Fraction, right: Fraction): Fraction {
  const times = reference.truncate(reference.divide(left, right));
  return reference.add(left, reference.negate(reference.multiply(times, right)));
}

describe('an exact number', () => {
  it('is what whole-number fractions give, in every operation and within the bounds', () => {
    fc.assert(
      fc.property(pair, pair, (left, right) => {
        const [one, other] = [left.expected, right.expected];
        const result = (calculate: typeof add): string =>
          told(calculate(left.number, right.number));
        const bounded = (fraction: Fraction): string => told(boundedNumber(fraction));
        expect(result(add)).toBe(bounded(reference.add(one, other)));
        expect(result(subtract)).toBe(bounded(reference.add(one, reference.negate(other))));
        expect(result(multiply)).toBe(bounded(reference.multiply(one, other)));
        expect(compare(left.number, right.number)).toBe(reference.compare(one, other));
        const isZero = other.numerator === 0n;
        expect(result(divide)).toBe(isZero ? 'none' : bounded(reference.divide(one, other)));
        expect(result(remainder)).toBe(isZero ? 'none' : bounded(remainderOf(one, other)));
      }),
      { numRuns: 3_000 },
    );
  });

  it('is rounded, negated and cut as fractions are', () => {
    fc.assert(
      fc.property(pair, decimal, ({ number, expected }, factor) => {
        expect(told(floor(number))).toBe(told(reference.floor(expected)));
        const above = reference.negate(reference.floor(reference.negate(expected)));
        expect(told(ceil(number))).toBe(told(above));
        expect(told(round(number))).toBe(told(reference.round(expected)));
        expect(told(negate(number))).toBe(told(reference.negate(expected)));
        const isNegative = reference.isNegative(expected);
        expect(told(absolute(number))).toBe(
          told(isNegative ? reference.negate(expected) : expected),
        );
        if (number instanceof Decimal || !(factor.number instanceof Decimal)) return;
        expect(plain(cutProduct(number, factor.number))).toBe(
          reference.toText(reference.cutDigits(reference.multiply(expected, factor.expected))),
        );
      }),
      { numRuns: 3_000 },
    );
  });

  it('comes back when it is divided and multiplied by the same', () => {
    fc.assert(
      fc.property(decimal, decimal, (left, right) => {
        const quotient = divide(left.number, right.number);
        fc.pre(quotient !== null);
        const back = multiply(needed(quotient), right.number);
        expect(compare(needed(back), left.number)).toBe(0);
      }),
    );
  });

  it('stays a decimal as long as no quotient goes on for ever', () => {
    const [one, other] = [new Decimal('12.5'), new Decimal('-0.004')];
    for (const calculate of [add, subtract, multiply, divide, remainder]) {
      expect(calculate(one, other)).toBeInstanceOf(Decimal);
    }
    expect(divide(one, new Decimal(3))).not.toBeInstanceOf(Decimal);
  });

  it('has no value from 10^100 on, and is 0 below 10^-100', () => {
    const third = needed(divide(new Decimal(1), new Decimal(3)));
    expect(multiply(third, new Decimal('2.9e100'))).not.toBeNull();
    expect(multiply(third, new Decimal('3e100'))).toBeNull();
    expect(divide(new Decimal('-3.1e-100'), new Decimal(3))).not.toEqual(new Decimal(0));
    expect(divide(new Decimal('-2.9e-100'), new Decimal(3))).toEqual(new Decimal(0));
  });

  it(`has no value when its terms have more than ${FRACTION_DIGITS_MAX} digits`, () => {
    const long = new Decimal(`1.${'3'.repeat(998)}`);
    const power = (count: number): ExactNumber | null => {
      let product: ExactNumber | null = long;
      for (let factors = 1; factors < count && product !== null; factors += 1) {
        product = multiply(product, long);
      }
      return product;
    };
    expect([power(2), power(4), power(5)].map((number) => number === null)).toEqual([
      false,
      false,
      true,
    ]);
  });
});
