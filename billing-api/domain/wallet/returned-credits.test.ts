import { describe, expect, test } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { leftToReturn, returnedCredits } from './returned-credits.js';

describe('what paid an invoice', () => {
  const payers = ['70', '30'].map((amount) => ({ amount: decimalOf(amount) }));

  test.for([
    ['0', ['70', '30'], '0'],
    ['51.61', ['18.39', '30'], '0'],
    ['75', ['25'], '0'],
    ['100', [], '0'],
    ['120', [], '20'],
  ] as const)('of which %s was given back goes back', ([givenBack, left, missing]) => {
    const found = leftToReturn(payers, decimalOf(givenBack));
    expect(found.left.map(([, amount]) => plain(amount))).toEqual(left);
    expect(plain(found.missing)).toBe(missing);
  });
});

describe('credits that a debit used', () => {
  const used = (credits: string, priority: number | null, expiryMs: number | null) => ({
    credits: decimalOf(credits),
    priority,
    expiryMs,
  });
  const all = [used('10', 1, 5), used('20', null, 9), used('5', null, null)];
  const told = (wanted: string, of = all) =>
    returnedCredits(of, decimalOf(wanted)).map((one) => [
      plain(one.credits),
      one.priority,
      one.expiryMs,
    ]);

  test('go back with their own terms, those that were used last first', () => {
    expect(told('35')).toEqual([
      ['10', 1, 5],
      ['20', null, 9],
      ['5', null, null],
    ]);
    expect(told('7')).toEqual([
      ['2', null, 9],
      ['5', null, null],
    ]);
    expect(told('0')).toEqual([]);
  });

  test('of equal terms are one, and what no credit is named for has no terms', () => {
    expect(told('9', [used('2', 1, 5), used('3', 1, 5)])).toEqual([
      ['4', null, null],
      ['5', 1, 5],
    ]);
  });
});
