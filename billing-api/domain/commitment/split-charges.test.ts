import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import { Money, formatMoney, roundMoney, sumOfMoney } from '../money/money.js';
import { usd } from '../../testing/invoice-samples.js';
import { splitCharges, type CommitmentBalance, type UsageCharge } from './split-charges.js';

const balanceOf = (available: string, overageFactor: string): CommitmentBalance => ({
  available: usd(available),
  overageFactor: decimalOf(overageFactor),
});
/** A charge at 1.00 per unit, unless a quantity is given. */
const charge = (amount: string, quantity = amount): UsageCharge => ({
  quantity: decimalOf(quantity),
  charge: decimalOf(amount),
});
/** `quantity amount`, overage marked with `+`, line by line. */
const split = (charges: readonly UsageCharge[], from: CommitmentBalance): string[][] =>
  splitCharges(charges, from).map((parts) =>
    parts.map(
      ({ isOverage, quantity, amount }) =>
        `${isOverage ? '+ ' : ''}${plain(quantity)} ${formatMoney(amount)}`,
    ),
  );

describe('walk by money (11.1)', () => {
  it('C 100, f 1.5, 500 units at 0.30: 100.00 in commitment and 75.00 of overage', () => {
    expect(split([charge('150', '500')], balanceOf('100', '1.5'))).toEqual([
      ['333.333333333333 100.00', '+ 166.666666666667 75.00'],
    ]);
  });

  it('C 10, f 2, charges 3.335 and 8.005: 3.34 + 6.66, not 3.34 + 6.67, and 2.68 (34.8)', () => {
    expect(split([charge('3.335'), charge('8.005')], balanceOf('10', '2'))).toEqual([
      ['3.335 3.34'],
      ['6.665 6.66', '+ 1.34 2.68'],
    ]);
  });

  it('a charge that meets the edge is not split, and the next is all overage', () => {
    expect(split([charge('100'), charge('5')], balanceOf('100', '1.5'))).toEqual([
      ['100 100.00'],
      ['+ 5 7.50'],
    ]);
  });

  it('a charge of 0 beyond the edge stays as it is', () => {
    expect(split([charge('100'), charge('0')], balanceOf('100', '1.5'))).toEqual([
      ['100 100.00'],
      ['0 0.00'],
    ]);
  });

  it('without anything left all of it is overage', () => {
    expect(split([charge('60')], balanceOf('0', '1.2'))).toEqual([['+ 60 72.00']]);
  });

  it('below the edge every charge is rounded by itself', () => {
    expect(split([charge('0.004'), charge('0.004')], balanceOf('10', '2'))).toEqual([
      ['0.004 0.00'],
      ['0.004 0.00'],
    ]);
  });

  it('says what earlier lines used, and what each part is at the normal price', () => {
    const parts = splitCharges([charge('40'), charge('70')], balanceOf('100', '1.5')).flat();
    expect(
      parts.map(({ base, exact, usedBefore }) => [base, exact, usedBefore].map(plain)),
    ).toEqual([
      ['40', '40', '0'],
      ['60', '60', '40'],
      ['10', '15', '100'],
    ]);
  });
});

describe('laws', () => {
  const charges = fc
    .array(fc.tuple(fc.nat(5_000_000), fc.nat(1000)), { maxLength: 6 })
    .map((parts) =>
      parts.map(([millis, quantity]): UsageCharge => ({
        charge: new Decimal(millis).dividedBy(1000),
        quantity: new Decimal(quantity).plus(millis === 0 ? 0 : 1),
      })),
    );
  const balances = fc.tuple(fc.nat(1_000_000), fc.nat(3000)).map(([cents, millis]) => ({
    available: new Money(new Decimal(cents).dividedBy(100), 'usd'),
    overageFactor: new Decimal(millis).dividedBy(1000).plus(1),
  }));
  const sum = (values: readonly Decimal[]): Decimal =>
    values.reduce((total, value) => total.plus(value), ZERO);

  it('charges beyond the commitment cost C + Round((u − C) × f) in all', () => {
    fc.assert(
      fc.property(charges, balances, (drawn, from) => {
        const usage = sum(drawn.map((one) => one.charge));
        fc.pre(usage.greaterThanOrEqualTo(from.available.value));
        const amounts = splitCharges(drawn, from).flat();
        const overage = usage.minus(from.available.value).times(from.overageFactor);
        const expected = from.available.plus(roundMoney(overage, 'usd'));
        const charged = sumOfMoney(
          amounts.map(({ amount }) => amount),
          'usd',
        );
        expect(charged).toEqual(expected);
      }),
    );
  });

  it('the parts of a charge have its quantity and its normal price', () => {
    fc.assert(
      fc.property(charges, balances, (drawn, from) => {
        const parts = splitCharges(drawn, from);
        expect(parts.map((of) => plain(sum(of.map(({ quantity }) => quantity))))).toEqual(
          drawn.map(({ quantity }) => plain(quantity)),
        );
        expect(parts.map((of) => plain(sum(of.map(({ base }) => base))))).toEqual(
          drawn.map((one) => plain(one.charge)),
        );
      }),
    );
  });

  it('more usage never costs less before rounding', () => {
    fc.assert(
      fc.property(charges, balances, fc.nat(5), (drawn, from, index) => {
        const raised = drawn.map((one, at) =>
          at === index ? { ...one, charge: one.charge.plus('0.7') } : one,
        );
        const [less = ZERO, greater = ZERO] = [drawn, raised].map((of) =>
          sum(splitCharges(of, from).flatMap((parts) => parts.map(({ exact }) => exact))),
        );
        expect(greater.greaterThanOrEqualTo(less)).toBe(true);
      }),
    );
  });

  it('every amount is its exact value rounded down or up', () => {
    fc.assert(
      fc.property(charges, balances, (drawn, from) => {
        for (const { amount, exact } of splitCharges(drawn, from).flat()) {
          expect(amount.value.minus(exact).abs().lessThan('0.01')).toBe(true);
        }
      }),
    );
  });
});
