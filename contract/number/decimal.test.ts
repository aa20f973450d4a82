import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, decimalOf, parseRequestDecimal, plain } from './decimal.js';

describe('parseRequestDecimal', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['007.50', '7.5'],
    ['1000000000000', '1000000000000'],
    ['-1000000000000', '-1000000000000'],
    ['0.000000000000000001', '0.000000000000000001'],
  ])('reads %s as %s', (text, value) => {
    const parsed = parseRequestDecimal(text);
    expect(parsed instanceof Decimal ? plain(parsed) : parsed).toBe(value);
  });

  it.each([
    ['', 'not_a_decimal'],
    ['1e3', 'not_a_decimal'],
    ['+1', 'not_a_decimal'],
    ['.5', 'not_a_decimal'],
    ['5.', 'not_a_decimal'],
    ['1,5', 'not_a_decimal'],
    ['NaN', 'not_a_decimal'],
    [' 1', 'not_a_decimal'],
    ['0x10', 'not_a_decimal'],
    ['0.0000000000000000001', 'too_many_fraction_digits'],
    ['1000000000000.000000000000000001', 'too_large'],
    ['9'.repeat(400), 'too_large'],
    ['9'.repeat(1_000_000), 'too_large'],
  ])('refuses %s', (text, problem) => {
    expect(parseRequestDecimal(text)).toBe(problem);
  });
});

describe('exactness', () => {
  it('keeps every digit of the largest quantity times the largest amount times a factor', () => {
    const quantity = decimalOf(`${'9'.repeat(58)}.${'9'.repeat(18)}`);
    const amount = decimalOf('999999999999.999999999999999999');
    const factor = decimalOf('1.000000000000000001');
    const back = quantity.times(amount).times(factor).dividedBy(factor).dividedBy(amount);
    expect(plain(back)).toBe(`${'9'.repeat(58)}.${'9'.repeat(18)}`);
  });

  it('writes plain digits, never an exponent', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.integer({ min: 0, max: 60 }), (digits, scale) => {
        const value = new Decimal(digits.toString()).dividedBy(new Decimal(10).pow(scale));
        expect(plain(value)).toMatch(/^-?\d+(\.\d*[1-9])?$/);
        expect(plain(decimalOf(plain(value)))).toBe(plain(value));
      }),
    );
  });

  it('refuses a text that is no plain decimal, even from a store', () => {
    expect(() => decimalOf('1e5')).toThrow(TypeError);
  });
});
