import { describe, expect, test } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { splitCredit, type SplitCharge } from './split-credit.js';

const day = (month: number, date: number): number => Date.UTC(2026, month - 1, date);
type Days = readonly [start: number, end: number];
const JANUARY: Days = [day(1, 1), day(2, 1)];
const timeOf = ([startMs, endMs]: Days) => ({ startMs, endMs });

const charge = (lineId: string, days: Days, net: string): SplitCharge => ({
  lineId,
  period: timeOf(days),
  net: decimalOf(net),
  left: decimalOf(net),
});

function split(charges: readonly SplitCharge[], amount: string, days: Days) {
  const credit = { amount: decimalOf(amount), period: timeOf(days) };
  const parts = splitCredit(charges, credit, 'usd');
  return Object.fromEntries(parts.map(({ lineId, amount: part }) => [lineId, plain(part)]));
}

describe('a credit', () => {
  test('is of the line that charges its time', () => {
    const charges = [
      charge('january', JANUARY, '100'),
      charge('february', [day(2, 1), day(3, 1)], '100'),
    ];
    expect(split(charges, '51.61', [day(1, 16), day(2, 1)])).toEqual({ january: '51.61' });
  });

  test('of two lines of one time is split by what each charges for it, to the cent', () => {
    const charges = [
      charge('ten seats', JANUARY, '120'),
      charge('three more', [day(1, 16), day(2, 1)], '18.58'),
    ];
    // 120 × 8 ÷ 31 = 30.967… and 18.58 × 8 ÷ 16 = 9.29.
    expect(split(charges, '40.26', [day(1, 24), day(2, 1)])).toEqual({
      'ten seats': '30.97',
      'three more': '9.29',
    });
  });

  test('is of the last line where pauses have moved its time, and of none that begins later', () => {
    const january = charge('january', JANUARY, '120');
    expect(split([january], '25.81', [day(2, 3), day(2, 11)])).toEqual({ january: '25.81' });
    const later = charge('after the pause', [day(2, 11), day(3, 11)], '84');
    expect(split([january, later], '6.97', [day(2, 5), day(2, 11)])).toEqual({ january: '6.97' });
  });

  test('takes of each line at most what notes and earlier credits have left of it', () => {
    const more = charge('five more', [day(1, 16), day(2, 1)], '30.97');
    const noted = { ...charge('ten seats', JANUARY, '120'), left: decimalOf('10') };
    const last: Days = [day(1, 24), day(2, 1)];
    // 10.00 that are left, and 30.97 × 8 ÷ 16.
    expect(split([noted, more], '25.49', last)).toEqual({
      'ten seats': '10',
      'five more': '15.49',
    });
  });

  test('of a line without a time is of that line, and of what no invoice has of none', () => {
    const once = charge('setup', [day(1, 1), day(1, 1)], '50');
    expect(split([once], '50', [day(1, 1), day(1, 1)])).toEqual({ setup: '50' });
    expect(split([], '1', JANUARY)).toEqual({});
  });
});
