import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  add,
  compare,
  cutDigits,
  divide,
  floor,
  fraction,
  multiply,
  negate,
  round,
  roundDigits,
  toText,
  truncate,
  type Fraction,
} from './fraction.js';

const anyFraction = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
    fc.bigInt({ min: 1n, max: 10n ** 20n }),
  )
  .map(([numerator, denominator]) => fraction(numerator, denominator));

const half = (numerator: bigint): Fraction => fraction(numerator, 2n);

describe('fraction', () => {
  test('forms a field: sums and products commute, distribute and can be undone', () => {
    fc.assert(
      fc.property(anyFraction, anyFraction, anyFraction, (a, b, c) => {
        expect(add(a, b)).toEqual(add(b, a));
        expect(multiply(a, add(b, c))).toEqual(add(multiply(a, b), multiply(a, c)));
        expect(add(add(a, b), negate(b))).toEqual(a);
        if (b.numerator !== 0n) expect(multiply(divide(a, b), b)).toEqual(a);
      }),
    );
  });

  test('has one form for one number', () => {
    expect(fraction(6n, -4n)).toEqual(fraction(-3n, 2n));
    expect(fraction(0n, -7n)).toEqual(fraction(0n));
    expect(() => fraction(1n, 0n)).toThrow(RangeError);
  });

  test('rounds halves away from 0, floors downwards, cuts towards 0', () => {
    expect([half(3n), half(-3n), half(5n)].map(round)).toEqual(
      [2n, -2n, 3n].map((n) => fraction(n)),
    );
    expect(round(fraction(-149n, 100n))).toEqual(fraction(-1n));
    expect([half(-3n), half(3n), half(-4n)].map(floor)).toEqual(
      [-2n, 1n, -2n].map((n) => fraction(n)),
    );
    expect(truncate(half(-3n))).toEqual(fraction(-1n));
    expect(toText(cutDigits(fraction(-2n, 3n)))).toBe('-0.666666666666666666');
    expect(toText(roundDigits(fraction(2n, 3n)))).toBe('0.666666666666666667');
  });

  test('lies between its floor and the next whole number, and next to its rounding', () => {
    fc.assert(
      fc.property(anyFraction, (value) => {
        const distance = add(value, negate(floor(value)));
        expect(compare(distance, fraction(0n)) >= 0 && compare(distance, fraction(1n)) < 0).toBe(
          true,
        );
        const error = add(value, negate(round(value)));
        expect(compare(error, half(1n)) <= 0 && compare(error, half(-1n)) >= 0).toBe(true);
      }),
    );
  });

  test.each([
    [fraction(10n ** 38n), `1${'0'.repeat(38)}`],
    [fraction(-5n, 10n ** 18n), '-0.000000000000000005'],
    [fraction(150n, 100n), '1.5'],
    [fraction(0n), '0'],
  ])('is written in plain digits without trailing zeros: %o is %s', (value, text) => {
    expect(toText(value)).toBe(text);
  });

  test('is not written when digits would be lost', () => {
    expect(() => toText(fraction(1n, 3n))).toThrow(RangeError);
  });
});
