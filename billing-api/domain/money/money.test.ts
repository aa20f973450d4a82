import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, decimalOf, sumOf } from '../../../contract/number/decimal.js';
import { usd } from '../../testing/invoice-samples.js';
import { minorDigitsOf } from './minor-digits.js';
import { Money, atLeastZero, formatMoney, lesserOf, roundMoney, sumOfMoney } from './money.js';

const CURRENCIES = ['usd', 'jpy', 'kwd', 'clf'] as const;
const currency = fc.constantFrom<string>(...CURRENCIES);

/** Any decimal with up to 18 fraction digits. */
const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, scale]) => new Decimal(digits.toString()).times(new Decimal(10).pow(-scale)));
const positive = decimal.map((value) => value.abs());
const unitOf = (code: string): Decimal => new Decimal(10).pow(-minorDigitsOf(code));

describe('Money', () => {
  it('adds, subtracts and compares amounts of one currency, exactly', () => {
    const [more, less] = [usd('1000000000000.10'), usd('0.20')];
    expect(formatMoney(more.plus(less))).toBe('1000000000000.30');
    expect(formatMoney(less.minus(more))).toBe('-999999999999.90');
    expect([more.comparedTo(less), less.comparedTo(more), less.comparedTo(less)]).toEqual([
      1, -1, 0,
    ]);
    expect([usd('0.01'), usd('0'), usd('-0.01')].map((one) => one.isAboveZero())).toEqual([
      true,
      false,
      false,
    ]);
    expect(formatMoney(sumOfMoney([more, less], 'usd'))).toBe('1000000000000.30');
    expect(formatMoney(sumOfMoney([], 'jpy'))).toBe('0');
  });

  it('takes the lesser of two amounts, and 0 for a negative one', () => {
    expect(lesserOf(usd('2'), usd('1'))).toEqual(usd('1'));
    expect(lesserOf(usd('1'), usd('2'))).toEqual(usd('1'));
    expect(atLeastZero(usd('-0.01'))).toEqual(usd('0'));
    expect(atLeastZero(usd('0.01'))).toEqual(usd('0.01'));
  });

  it.each([
    ['3.085', 'usd'],
    ['0.5', 'jpy'],
    ['-0.0001', 'kwd'],
  ])('never has finer digits than its currency: %s %s', (value, code) => {
    expect(() => new Money(decimalOf(value), code)).toThrow(RangeError);
  });

  it('throws where currencies that only the program knows are mixed', () => {
    const yen: Money = new Money<string>(decimalOf('100'), 'jpy');
    const mixed: readonly (() => unknown)[] = [
      () => usd('1').plus(yen),
      () => usd('1').minus(yen),
      () => usd('1').comparedTo(yen),
      () => lesserOf(usd('1'), yen),
      () => sumOfMoney([usd('1'), yen], 'usd'),
      () => sumOfMoney([yen], 'usd'),
    ];
    for (const mix of mixed) expect(mix).toThrow('different currencies');
  });

  it('does not compile where the compiler can see two currencies, or none', () => {
    const dollars = new Money(decimalOf('1'), 'usd');
    const euros = new Money(decimalOf('1'), 'eur');
    // @ts-expect-error two known currencies
    expect(() => dollars.plus(euros)).toThrow(TypeError);
    // @ts-expect-error two known currencies
    expect(() => dollars.minus(euros)).toThrow(TypeError);
    // @ts-expect-error two known currencies
    expect(() => dollars.comparedTo(euros)).toThrow(TypeError);
    // @ts-expect-error a sum in another currency than its amounts
    expect(() => sumOfMoney([dollars], 'eur')).toThrow(TypeError);
    // @ts-expect-error a decimal has no currency
    expect(() => dollars.plus(decimalOf('1'))).toThrow(TypeError);
    // @ts-expect-error money is no exact charge, which could be rounded a second time
    expect(() => roundMoney(dollars, 'usd')).toThrow(TypeError);
    // @ts-expect-error only the constructor makes money, so that its digits are checked
    const forged: Money<'usd'> = { ...dollars, value: decimalOf('0.001') };
    expect(forged).not.toBeInstanceOf(Money);
  });

  it('does not compile in code that is generic in two currencies', () => {
    const added = <A extends string, B extends string>(left: Money<A>, right: Money<B>): Money<A> =>
      // @ts-expect-error two unknown currencies
      left.plus(right);
    const converted = <C extends string>(one: Money<C>): Money<C> =>
      // @ts-expect-error an unknown currency and a known one
      new Money(one.value, 'usd');
    // @ts-expect-error what is known of a currency is never forgotten
    const forgotten: Money = new Money(decimalOf('1'), 'usd');
    expect(() => added(usd('1'), new Money(decimalOf('1'), 'jpy'))).toThrow(TypeError);
    expect(converted(forgotten)).toEqual(usd('1'));
  });
});

describe('roundMoney (6.2)', () => {
  it.each([
    ['usd', '3.085', '3.09'],
    ['usd', '3.084999999999999999', '3.08'],
    ['usd', '-3.085', '-3.09'],
    ['usd', '0.125', '0.13'],
    ['usd', '2.345', '2.35'],
    ['usd', '-5.775', '-5.78'],
    ['usd', '0.004', '0.00'],
    ['usd', '-0.004', '0.00'],
    ['usd', '0.005', '0.01'],
    ['jpy', '10.5', '11'],
    ['jpy', '-10.5', '-11'],
    ['kwd', '1.0005', '1.001'],
    ['clf', '1.00005', '1.0001'],
    ['usd', '999999999999.995', '1000000000000.00'],
  ])('rounds half-up away from zero: %s %s to %s (RND-3)', (code, exact, rounded) => {
    expect(formatMoney(roundMoney(decimalOf(exact), code))).toBe(rounded);
  });

  it('takes a sum of quotients for the value it stands for', () => {
    // Six sixths of half a cent are less than half a cent by the last digit of the precision.
    const sixths = Array.from({ length: 6 }, () => decimalOf('0.005').dividedBy(6));
    expect(sumOf(sixths).lessThan('0.005')).toBe(true);
    expect(roundMoney(sumOf(sixths), 'usd').value.toFixed()).toBe('0.01');
  });

  it('is idempotent, symmetric about zero and never more than half a unit away', () => {
    fc.assert(
      fc.property(decimal, currency, (value, code) => {
        const rounded = roundMoney(value, code);
        expect(roundMoney(rounded.value, code)).toEqual(rounded);
        expect(roundMoney(value.negated(), code).plus(rounded).isZero()).toBe(true);
        expect(rounded.value.minus(value).abs().times(2).lessThanOrEqualTo(unitOf(code))).toBe(
          true,
        );
      }),
    );
  });

  it('never turns a greater value into a lesser amount', () => {
    fc.assert(
      fc.property(decimal, positive, currency, (value, more, code) => {
        const [low, high] = [roundMoney(value, code), roundMoney(value.plus(more), code)];
        expect(high.comparedTo(low)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('formatMoney (6.6)', () => {
  it.each([
    ['usd', '3', '3.00'],
    ['usd', '-0.5', '-0.50'],
    ['jpy', '1200', '1200'],
    ['kwd', '0.1', '0.100'],
    ['usd', '1000000000000', '1000000000000.00'],
  ])('writes exactly the minor digits: %s %s as %s', (code, value, text) => {
    expect(formatMoney(new Money(decimalOf(value), code))).toBe(text);
  });

  it('writes a negative zero without its sign', () => {
    expect(formatMoney(new Money(new Decimal('-0'), 'usd'))).toBe('0.00');
  });
});
