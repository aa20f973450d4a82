import { describe, expect, it } from 'vitest';
import { decimalOf } from '../../../contract/number/decimal.js';
import { displayAmount } from './display-amount.js';

describe('displayAmount (8)', () => {
  it.each([
    ['0.0025', 'usd', '$0.0025'],
    ['10.00', 'usd', '$10'],
    ['1200', 'jpy', '¥1200'],
    ['5', 'eur', '€5'],
    ['5', 'cad', '$5'],
    ['1.5', 'chf', 'CHF 1.5'],
    ['1.5', 'kwd', 'KWD 1.5'],
    ['7', 'zzz', 'ZZZ 7'],
  ])('writes %s %s as %s', (amount, code, text) => {
    expect(displayAmount(decimalOf(amount), code)).toBe(text);
  });
});
