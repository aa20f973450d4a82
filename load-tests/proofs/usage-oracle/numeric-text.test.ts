import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutDigits, fraction, toText } from './fraction.js';
import { readNumber } from './numeric-text.js';

function textOf(text: string): string | null {
  const value = readNumber(text);
  return value === null ? null : toText(cutDigits(value));
}

describe('readNumber', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['007', '7'],
    ['+4.50', '4.5'],
    ['-4.5', '-4.5'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['25e-1', '2.5'],
    ['1.', '1'],
    ['.5', '0.5'],
    ['1e30', `1${'0'.repeat(30)}`],
    ['1e-18', '0.000000000000000001'],
    ['1e-30', '0'],
    ['1e-99999999999999999999', '0'],
    ['0e99999999999999999999', '0'],
    ['9.9999999999999999999', '9.999999999999999999'],
    ['-0.0000000000000000019', '-0.000000000000000001'],
    ['999999999999999999999999999999999999999.5', `${'9'.repeat(39)}.5`],
  ])('reads %s as %s', (text, expected) => {
    expect(textOf(text)).toBe(expected);
  });

  test.each(['', 'abc', '0x10', ' 7', '7 ', '.', '-', '1e', 'e5', '1,5', '1_000', '--1', '٣'])(
    'does not take %j for a number',
    (text) => {
      expect(textOf(text)).toBeNull();
    },
  );

  test.each([
    'Infinity',
    'NaN',
    '1e100',
    '-1e100',
    '1e99999999999999999999',
    `1${'0'.repeat(100)}`,
  ])('does not hold %s, which reaches 10^100', (text) => {
    expect(textOf(text)).toBeNull();
  });

  test('cuts nothing', () => {
    expect(readNumber('1e-30')).toEqual(fraction(1n, 10n ** 30n));
  });

  test('reads back what it writes, and the exponent moves the point only', () => {
    const digits = fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n });
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 18 }), (whole, places) => {
        const text = textOf(`${whole}e-${places}`) ?? '';
        expect(textOf(text)).toBe(text);
        expect(textOf(`${text}e${places}`)).toBe(whole.toString());
      }),
    );
  });
});
