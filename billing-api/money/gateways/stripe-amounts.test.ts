import { describe, expect, test } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { chargeableOf, moneyOfUnits, unitsOfMoney } from './stripe-amounts.js';

describe('amounts at Stripe', () => {
  test.each([
    ['122.00', 'usd', 12200],
    ['0.01', 'EUR', 1],
    ['1220', 'jpy', 1220],
    // Hundredths, although the currency has none.
    ['50', 'isk', 5000],
    ['50', 'ugx', 5000],
    ['1.230', 'kwd', 1230],
    ['90071992547409.91', 'usd', 9007199254740991],
  ])('%s %s is %i there, and back', (amount, currency, units) => {
    expect(unitsOfMoney(decimalOf(amount), currency)).toBe(units);
    expect(plain(moneyOfUnits(units, currency))).toBe(plain(decimalOf(amount)));
  });

  test.each([
    ['1.234', 'kwd'],
    ['1.005', 'usd'],
    ['90071992547409.92', 'usd'],
  ])('%s %s cannot be said there', (amount, currency) => {
    expect(unitsOfMoney(decimalOf(amount), currency)).toBeNull();
  });

  test.each([
    ['12.345', 'kwd', '12.34'],
    ['12.34', 'kwd', '12.34'],
    ['0.009', 'bhd', '0'],
    ['12.345', 'lyd', '12.34'],
    ['122.01', 'usd', '122.01'],
    ['1220', 'jpy', '1220'],
  ])('of %s %s are taken as %s', (amount, currency, taken) => {
    expect(plain(chargeableOf(decimalOf(amount), currency))).toBe(taken);
  });
});
