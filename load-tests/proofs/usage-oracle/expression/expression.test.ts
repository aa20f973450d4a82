import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutDigits, toText } from '../fraction.js';
import { numberOf } from './evaluate.js';
import { ExpressionError } from './expression.js';
import { parseExpression } from './parse-expression.js';

const PROPERTIES: Readonly<Record<string, string>> = {
  a: '7',
  b: '-2',
  tier: 'gold',
  on: 'true',
  off: 'false',
  'in-tokens': '1.50',
  zero: '0',
};

function resultOf(text: string): string | null {
  const value = numberOf(parseExpression(text), (name) => PROPERTIES[name] ?? null);
  return value === null ? null : toText(cutDigits(value));
}

describe('an expression', () => {
  test.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['10 - 3 - 2', '5'],
    ['2 / 3', '0.666666666666666666'],
    ['1 / 3 * 3', '1'],
    ['-a', '-7'],
    ['- -a', '7'],
    ['a - -b', '5'],
    ['7 % 3', '1'],
    ['-7 % 3', '-1'],
    ['7 % -3', '1'],
    ['5.5 % 2', '1.5'],
    ['.5 + 1.', '1.5'],
    ['1e3', '1000'],
    ['properties["in-tokens"] * 2', '3'],
    ["properties['a']", '7'],
    ['a > 5 ? 1 : 2', '1'],
    ['a > 5 && b > 5 ? 1 : 2', '2'],
    ['a > 5 || missing > 5 ? 1 : 2', '1'],
    ['tier == "gold" ? a * 2 : a', '14'],
    ["tier != 'gold' ? 1 : 0", '0'],
    ['properties["in-tokens"] == 1.5 ? 1 : 0', '1'],
    ['properties["in-tokens"] == "1.5" ? 1 : 0', '1'],
    ['on ? 1 : 2', '1'],
    ['!on ? 1 : 2', '2'],
    ['off ? 1 : 2', '2'],
    ['zero ? 1 : 2', '2'],
    ['1 < 2 == 2 < 3 ? 4 : 5', '4'],
    ['0 ? 1 : 0 ? 2 : 3', '3'],
    ['1 || 0 && 0 ? 1 : 0', '1'],
    ['min(3, a, b)', '-2'],
    ['max(3, a, b)', '7'],
    ['abs(b)', '2'],
    ['ceil(1.2) + ceil(-1.2)', '1'],
    ['floor(1.2) + floor(-1.2)', '-1'],
    ['round(2.5) + round(-2.5) + round(0.4)', '0'],
    ['1 == 1 ? missing2 : 0', null],
    ['1e99 * 10 * 0.1', null],
    ['1e-99 / 10 * 1e99', '0.1'],
    ['1e-100 / 3 * 1e99', '0'],
  ])('%s is %s', (text, expected) => {
    expect(resultOf(text)).toBe(expected);
  });

  test.each(['missing', 'missing + 1', 'tier + 1', 'a / 0', 'a % zero', 'on * 2', 'max(a, tier)'])(
    '%s has no value',
    (text) => {
      expect(resultOf(text)).toBeNull();
    },
  );

  test.each(['tier', 'tier < "silver"', 'a == 7', '!a', 'tier ? 1 : 2', '"abc"', '(1 < 2) + 1'])(
    '%s yields no number',
    (text) => {
      expect(resultOf(text)).toBeNull();
    },
  );

  test.each([
    '',
    '1 +',
    '(1',
    '1 2',
    '+a',
    'a = 1',
    'a === 1',
    'sqrt(a)',
    'abs(1, 2)',
    'max()',
    'a.b',
    'a["b"]',
    'properties[b]',
    '"open',
    '1e100',
    '1abc',
    'a ? 1',
    'a; b',
    '[1]',
    '#',
  ])('%j does not compile', (text) => {
    expect(() => parseExpression(text)).toThrow(ExpressionError);
  });

  test('agrees with plain integer arithmetic', () => {
    const small = fc.integer({ min: -50, max: 50 });
    fc.assert(
      fc.property(small, small, small, (x, y, z) => {
        const text = (value: number): string => (value < 0 ? `(${value})` : String(value));
        expect(resultOf(`${text(x)} - ${text(y)} * ${text(z)}`)).toBe(String(x - y * z));
        expect(resultOf(`max(${x}, ${y}, ${z}) - min(${x}, ${y}, ${z})`)).toBe(
          String(Math.max(x, y, z) - Math.min(x, y, z)),
        );
        if (z !== 0) expect(resultOf(`(${x} % ${text(z)})`)).toBe(String((x % z) + 0));
      }),
    );
  });
});
