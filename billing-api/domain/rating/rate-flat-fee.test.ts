import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, decimalOf } from '../../../contract/number/decimal.js';
import { formatMoney, roundMoney } from '../money/money.js';
import { rateFlatFee } from './rate-flat-fee.js';

const positive = fc
  .bigInt({ min: 1n, max: 10n ** 24n })
  .map((digits) => new Decimal(digits.toString()).dividedBy('1e12'));

describe('FLAT_FEE (8.1)', () => {
  it('charges 3.085 for 1234 at 0.0025, and the line is 3.09', () => {
    const { amount } = rateFlatFee(decimalOf('0.0025'), decimalOf('1234'));
    expect(amount.toFixed()).toBe('3.085');
    expect(formatMoney(roundMoney(amount, 'usd'))).toBe('3.09');
  });

  it('keeps every digit of the smallest amount times the longest quantity', () => {
    const amount = decimalOf('0.000000000000000001');
    const quantity = decimalOf('999999999999.999999999999999999');
    expect(rateFlatFee(amount, quantity).amount.toFixed()).toBe(
      '0.000000999999999999999999999999999999',
    );
  });

  it('traces one multiplication', () => {
    const { trace } = rateFlatFee(decimalOf('2'), decimalOf('3.5'));
    expect(JSON.parse(JSON.stringify(trace))).toEqual({
      billingModel: 'FLAT_FEE',
      tierMode: null,
      steps: [
        { tier: 1, upTo: null, quantity: '3.5', unitAmount: '2', flatAmount: '0', amount: '7' },
      ],
      packages: null,
    });
  });

  it('charges a quantity the same in one piece or in two, and never less for more', () => {
    fc.assert(
      fc.property(positive, positive, positive, (amount, one, other) => {
        const whole = rateFlatFee(amount, one.plus(other)).amount;
        const pieces = rateFlatFee(amount, one).amount.plus(rateFlatFee(amount, other).amount);
        expect(whole.toFixed()).toBe(pieces.toFixed());
        expect(whole.greaterThan(rateFlatFee(amount, one).amount)).toBe(true);
      }),
    );
  });
});
