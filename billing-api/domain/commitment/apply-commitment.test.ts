import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ONE, decimalOf, plain } from '../../../contract/number/decimal.js';
import { applyCommitment } from './apply-commitment.js';

/** `charge = utilized + overage + true-up` at a commitment of 500 and a factor of 1.2. */
const split = (usage: string, isTrueUpDue: boolean, overageFactor = '1.2'): string => {
  const parts = applyCommitment(decimalOf(usage), {
    available: decimalOf('500'),
    overageFactor: decimalOf(overageFactor),
    isTrueUpDue,
  });
  const { charge, utilized, overage, trueUp } = parts;
  return `${plain(charge)} = ${plain(utilized)} + ${plain(overage)} + ${plain(trueUp)}`;
};

describe('commitment of an amount (11.3): C 500, f 1.2', () => {
  it.each([
    ['650', true, '680 = 500 + 180 + 0'],
    ['650', false, '680 = 500 + 180 + 0'],
    ['300', true, '500 = 300 + 0 + 200'],
    ['300', false, '300 = 300 + 0 + 0'],
    ['500', true, '500 = 500 + 0 + 0'],
    ['0', true, '500 = 0 + 0 + 500'],
    ['0', false, '0 = 0 + 0 + 0'],
  ])('usage money %s with true-up %s: %s', (usage, isTrueUpDue, expected) => {
    expect(split(usage, isTrueUpDue)).toBe(expected);
  });

  it('a factor of 1 is meaningful on a line: it still trues up (34.7)', () => {
    expect(split('300', true, '1')).toBe('500 = 300 + 0 + 200');
    expect(split('650', true, '1')).toBe('650 = 500 + 150 + 0');
  });
});

describe('laws', () => {
  const amounts = fc.nat(1_000_000_000).map((micros) => new Decimal(micros).dividedBy(1000));
  const factors = fc.nat(3000).map((millis) => new Decimal(millis).dividedBy(1000).plus(ONE));
  const rests = fc.record({
    available: amounts,
    overageFactor: factors,
    isTrueUpDue: fc.boolean(),
  });

  it('charge = utilized + overage + true-up, none of them negative', () => {
    fc.assert(
      fc.property(amounts, rests, (usage, rest) => {
        const { charge, utilized, overage, trueUp } = applyCommitment(usage, rest);
        expect(plain(utilized.plus(overage).plus(trueUp))).toBe(plain(charge));
        expect([utilized, overage, trueUp].some((part) => part.isNegative())).toBe(false);
        expect(overage.isZero() || trueUp.isZero()).toBe(true);
      }),
    );
  });

  it('more usage never costs less', () => {
    fc.assert(
      fc.property(amounts, amounts, rests, (usage, more, rest) => {
        const [less, greater] = [usage, usage.plus(more)].map((one) => applyCommitment(one, rest));
        expect(greater?.charge.greaterThanOrEqualTo(less?.charge ?? 0)).toBe(true);
      }),
    );
  });

  it('equal usages cost n times one at n times the commitment', () => {
    fc.assert(
      fc.property(amounts, rests, fc.integer({ min: 1, max: 9 }), (usage, rest, n) => {
        const available = rest.available.times(n);
        const together = applyCommitment(usage.times(n), { ...rest, available });
        expect(plain(together.charge)).toBe(plain(applyCommitment(usage, rest).charge.times(n)));
      }),
    );
  });
});
