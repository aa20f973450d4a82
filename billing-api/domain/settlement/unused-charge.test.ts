import { describe, expect, test } from 'vitest';
import { decimalOf, sumOf } from '../../../contract/number/decimal.js';
import { roundMoney } from '../money/money.js';
import { notedWithoutTaxes, unusedAmount, unusedShare } from './unused-charge.js';

const at = (text: string): number => Date.parse(text);
const charge = (net: string, start: string, end: string) => ({
  net: decimalOf(net),
  period: { startMs: at(start), endMs: at(end) },
});
const rounded = (charges: Parameters<typeof unusedAmount>[0], instant: string, pauses = noPauses) =>
  roundMoney(unusedAmount(charges, pauses, at(instant)), 'usd').value.toFixed(2);
const noPauses: readonly { startMs: number; endMs: number }[] = [];
const january = (net: string) => charge(net, '2026-01-01T00:00Z', '2026-02-01T00:00Z');

describe('the unused part of a charge in advance', () => {
  test.each([
    ['half of a month', [january('100')], '2026-01-16T00:00Z', '51.61'],
    ['half of a month at noon', [january('100')], '2026-01-16T12:00Z', '50.00'],
    ['all of it at its start', [january('50')], '2026-01-01T00:00Z', '50.00'],
    ['all of what begins later', [january('50')], '2025-12-01T00:00Z', '50.00'],
    ['nothing after its end', [january('50')], '2026-02-01T00:00Z', '0.00'],
    [
      'most of a year',
      [charge('1200', '2026-01-01T00:00Z', '2027-01-01T00:00Z')],
      '2026-01-16T00:00Z',
      '1150.68',
    ],
    ['a threshold invoice between', [january('100')], '2026-01-26T00:00Z', '19.35'],
    [
      'a short first period',
      [charge('54.84', '2026-08-15T00:00Z', '2026-09-01T00:00Z')],
      '2026-08-24T00:00Z',
      '25.81',
    ],
    ['two charges, rounded once', [january('0.01'), january('0.02')], '2026-01-16T00:00Z', '0.02'],
  ] as const)('is %s', (...[, charges, instant, expected]) => {
    expect(rounded(charges, instant)).toBe(expected);
  });

  test('moves with the pauses of its period', () => {
    const pauses = [{ startMs: at('2026-01-05T00:00Z'), endMs: at('2026-01-15T00:00Z') }];
    expect(rounded([january('100')], '2026-01-26T00:00Z', pauses)).toBe('51.61');
  });

  test.each([
    ['10', '0', '48.39'],
    ['60', '0', '40.00'],
    ['100', '0', '0.00'],
    // Of 20 % taxes, a note of 72.00 has 60.00 of the charge.
    ['72', '20', '40.00'],
    ['120', '20', '0.00'],
  ])('is at most what notes of %s, with taxes of %s, have left', (noted, tax, expected) => {
    const taxed = decimalOf('100');
    const of = notedWithoutTaxes(decimalOf(noted), { tax: decimalOf(tax), taxed }, 'usd');
    expect(rounded([{ ...january('100'), noted: of }], '2026-01-17T00:00Z')).toBe(expected);
  });

  test('is not lowered by what was given back of the period before', () => {
    const before = charge('-144', '2026-01-20T00:00Z', '2026-02-05T00:00Z');
    const charges = [before, charge('28', '2026-02-05T00:00Z', '2026-03-05T00:00Z')];
    expect(rounded(charges, '2026-02-06T00:00Z')).toBe('27.00');
  });

  test('is a share of seconds where the clock changes', () => {
    const month = charge('1', '2026-02-28T23:00Z', '2026-03-31T22:00Z');
    const { coveredMs, fullMs } = unusedShare(month, [], at('2026-03-15T23:00Z'));
    expect([coveredMs / 1000, fullMs / 1000]).toEqual([1_378_800, 2_674_800]);
  });

  test('and its used part add up to it, wherever it is cut', () => {
    const cuts = ['2026-01-01T00:00Z', '2026-01-03T07:11:13.017Z', '2026-01-31T23:59:59.999Z'];
    const parts = cuts.map((cut, index) => {
      const next = cuts[index + 1];
      const left = unusedAmount([january('100')], [], at(cut));
      return next === undefined ? left : left.minus(unusedAmount([january('100')], [], at(next)));
    });
    expect(sumOf(parts).toDecimalPlaces(30).toFixed()).toBe('100');
  });
});
