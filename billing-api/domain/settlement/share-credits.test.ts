import { describe, expect, test } from 'vitest';
import { addAt, decimalOf, plain, type Decimal } from '../../../contract/number/decimal.js';
import { shareCredits } from './share-credits.js';

const day = (month: number, date: number): number => Date.UTC(2026, month - 1, date);
const part = (ownerId: string, [start, end]: readonly [number, number], amount: string) => ({
  ownerId,
  period: { startMs: start, endMs: end },
  amount: decimalOf(amount),
});
const JANUARY = [day(1, 1), day(2, 1)] as const;

function shared(
  charges: readonly (readonly [string, ReturnType<typeof part>])[],
  credits: readonly ReturnType<typeof part>[],
): Record<string, string> {
  const lines = charges.map(([lineId, charge]) => ({ lineId, ...charge }));
  const given = new Map<string, Decimal>();
  for (const { lineId, amount } of shareCredits(lines, credits, 'usd'))
    addAt(given, lineId, amount);
  return Object.fromEntries([...given].map(([id, amount]) => [id, plain(amount)]));
}

describe('a credit', () => {
  test('is of the line that charges its time', () => {
    const charges = [
      ['january', part('item', JANUARY, '100')],
      ['february', part('item', [day(2, 1), day(3, 1)], '100')],
      ['other', part('another', JANUARY, '100')],
    ] as const;
    const credit = part('item', [day(1, 16), day(2, 1)], '51.61');
    expect(shared(charges, [credit])).toEqual({ january: '51.61' });
  });

  test('of two lines of one time is split by what each charges for it, to the cent', () => {
    const charges = [
      ['ten seats', part('item', JANUARY, '120')],
      ['three more', part('item', [day(1, 16), day(2, 1)], '18.58')],
    ] as const;
    const credit = part('item', [day(1, 24), day(2, 1)], '40.26');
    // 120 × 8 ÷ 31 = 30.967… and 18.58 × 8 ÷ 16 = 9.29.
    expect(shared(charges, [credit])).toEqual({ 'ten seats': '30.97', 'three more': '9.29' });
  });

  test('adds to earlier ones, and is of the last line where pauses have moved its time', () => {
    const charges = [['january', part('item', JANUARY, '100')]] as const;
    const credits = [
      part('item', [day(1, 16), day(2, 1)], '20'),
      part('item', [day(2, 3), day(2, 11)], '25.81'),
    ];
    expect(shared(charges, credits)).toEqual({ january: '45.81' });
  });

  test('takes of each line at most what notes and earlier credits have left of it', () => {
    const noted = { ...part('item', JANUARY, '120'), noted: decimalOf('110') };
    const more = part('item', [day(1, 16), day(2, 1)], '30.97');
    const charges = [['ten seats', noted] as const, ['five more', more] as const];
    const credit = part('item', [day(1, 24), day(2, 1)], '25.49');
    // 10.00 that are left, and 30.97 × 8 ÷ 16.
    expect(shared(charges, [credit])).toEqual({ 'ten seats': '10', 'five more': '15.49' });
    const half = { ...credit, amount: decimalOf('12.74') };
    const last = { ...credit, amount: decimalOf('12.75') };
    expect(shared(charges, [half, last])).toEqual({ 'ten seats': '8.11', 'five more': '17.38' });
  });

  test('for time that pauses have moved is of no line that begins later', () => {
    const charges = [
      ['january', part('item', JANUARY, '120')],
      ['after the pause', part('item', [day(2, 11), day(3, 11)], '84')],
    ] as const;
    const credit = part('item', [day(2, 5), day(2, 11)], '6.97');
    expect(shared(charges, [credit])).toEqual({ january: '6.97' });
  });

  test('of what no invoice has any more is of no line', () => {
    expect(shared([], [part('item', JANUARY, '1')])).toEqual({});
  });
});
