import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, sumOf } from '../../../contract/number/decimal.js';
import { usd } from '../../testing/invoice-samples.js';
import { allocate, allocateByWeight } from './allocate.js';
import { minorDigitsOf } from './minor-digits.js';
import { Money, formatMoney, roundMoney } from './money.js';

const CURRENCIES = ['usd', 'jpy', 'kwd', 'clf'] as const;
const currency = fc.constantFrom<string>(...CURRENCIES);

/** Any decimal with up to 18 fraction digits. */
const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, scale]) => new Decimal(digits.toString()).times(new Decimal(10).pow(-scale)));
const positive = decimal.map((value) => value.abs());
const unitOf = (code: string): Decimal => new Decimal(10).pow(-minorDigitsOf(code));

const texts = (values: readonly Decimal[]): string[] => values.map((value) => value.toFixed());
const itself = (value: Decimal): Decimal => value;
const partsByShare = (amount: Decimal, shares: readonly Decimal[], code: string): Decimal[] =>
  allocate(new Money(amount, code), shares, itself).map(([, part]) => part.value);
const partsByWeight = (amount: Decimal, weights: readonly Decimal[], code: string): Decimal[] =>
  allocateByWeight(new Money(amount, code), weights, itself).map(([, part]) => part.value);

describe('allocate (6.5)', () => {
  it('gives the unit to the earlier of two equal thirds, however large the later one is', () => {
    const thirds = ['20', '500000000000'].map((text) => decimalOf(text).dividedBy(3));
    const parts = partsByShare(decimalOf('166666666673.33'), thirds, 'usd');
    expect(texts(parts)).toEqual(['6.67', '166666666666.66']);
  });

  it('gives 3.34, 3.33, 3.33 for 10.00 over three equal lines', () => {
    const third = new Decimal(10).dividedBy(3);
    expect(texts(partsByShare(decimalOf('10'), [third, third, third], 'usd'))).toEqual([
      '3.34',
      '3.33',
      '3.33',
    ]);
  });

  it('splits 10.00 into 3.34 and 6.66 for the shares 3.335 and 6.665 (11.1, 34.8)', () => {
    const shares = [decimalOf('3.335'), decimalOf('6.665')];
    expect(texts(partsByShare(decimalOf('10'), shares, 'usd'))).toEqual(['3.34', '6.66']);
  });

  it('gives the missing unit to the greatest remainder, not to the first line', () => {
    const shares = [decimalOf('1.001'), decimalOf('1.009')];
    expect(texts(partsByShare(decimalOf('2.01'), shares, 'usd'))).toEqual(['1', '1.01']);
  });

  it.each([
    ['0.01', ['0.005'], ['0.01']],
    ['1', ['0.334', '0.334', '0.334'], ['0.34', '0.33', '0.33']],
    ['0.02', ['0.005', '0.005', '0.005'], ['0.01', '0.01', '0']],
    ['0', [], []],
  ])('takes an amount that the shares round to: %s', (amount, shares, parts) => {
    expect(texts(partsByShare(decimalOf(amount), shares.map(decimalOf), 'usd'))).toEqual(parts);
  });

  it('takes back exactly what it gave when the amount is negative', () => {
    const shares = ['-3.335', '-6.665'].map(decimalOf);
    expect(texts(partsByShare(decimalOf('-10'), shares, 'usd'))).toEqual(['-3.34', '-6.66']);
  });

  it('hands every item its part, in the order of the items', () => {
    const items = [
      { name: 'first', share: '3.335' },
      { name: 'second', share: '6.665' },
    ] as const;
    const shareOf = ({ share }: (typeof items)[number]): Decimal => decimalOf(share);
    const parts = allocate(usd('10'), items, shareOf);
    expect(parts.map(([{ name }, part]) => `${name} ${formatMoney(part)}`)).toEqual([
      'first 3.34',
      'second 6.66',
    ]);
  });

  it('refuses shares that do not add up to the amount', () => {
    expect(() => partsByShare(decimalOf('10'), [decimalOf('9.99')], 'usd')).toThrow(RangeError);
  });

  it('conserves the amount and keeps every part within one unit of its share', () => {
    fc.assert(
      fc.property(fc.array(positive, { maxLength: 12 }), currency, (shares, code) => {
        const amount = roundMoney(sumOf(shares), code);
        const parts = partsByShare(amount.value, shares, code);
        expect(sumOf(parts)).toEqual(amount.value);
        for (const [index, part] of parts.entries()) {
          const distance = part.minus(shares[index] ?? ZERO).abs();
          expect(part.isNegative()).toBe(false);
          expect(distance.lessThan(unitOf(code))).toBe(true);
        }
      }),
    );
  });

  it('mirrors a negative amount', () => {
    fc.assert(
      fc.property(fc.array(positive, { maxLength: 8 }), currency, (shares, code) => {
        const amount = roundMoney(sumOf(shares), code);
        const negated = shares.map((share) => share.negated());
        const mirrored = partsByShare(amount.value.negated(), negated, code);
        expect(texts(mirrored.map((part) => part.negated().plus(0)))).toEqual(
          texts(partsByShare(amount.value, shares, code)),
        );
      }),
    );
  });

  it('keeps every part below the cap of its line when the shares do', () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1, maxLength: 8 }), currency, (shares, code) => {
        const caps = shares.map((share) => share.toDecimalPlaces(minorDigitsOf(code), 0));
        const parts = partsByShare(roundMoney(sumOf(shares), code).value, shares, code);
        const isKept = parts.every((part, index) => part.lessThanOrEqualTo(caps[index] ?? ZERO));
        expect(isKept).toBe(true);
      }),
    );
  });
});

describe('allocateByWeight (6.5)', () => {
  it.each([
    ['10', ['1', '1', '1'], ['3.34', '3.33', '3.33']],
    ['10', ['8', '2'], ['8', '2']],
    ['0.01', ['1', '3'], ['0', '0.01']],
    ['-10', ['1', '1', '1'], ['-3.34', '-3.33', '-3.33']],
    ['0', ['1', '1'], ['0', '0']],
  ])('splits %s by weights', (amount, weights, parts) => {
    expect(texts(partsByWeight(decimalOf(amount), weights.map(decimalOf), 'usd'))).toEqual(parts);
  });

  it('gives equal remainders of unequal shares to the earlier line', () => {
    // Shares of 3 1/3 units, 1/3 unit and 3 1/3 units: three equal rests, one unit left.
    const weights = ['10', '1', '10'].map(decimalOf);
    expect(texts(partsByWeight(decimalOf('0.07'), weights, 'usd'))).toEqual(['0.04', '0', '0.03']);
    const turned = ['1', '10', '10'].map(decimalOf);
    expect(texts(partsByWeight(decimalOf('0.07'), turned, 'usd'))).toEqual([
      '0.01',
      '0.03',
      '0.03',
    ]);
  });

  it.each([
    ['an amount with finer digits', '0.001', ['1']],
    ['weights of nothing', '1', ['0', '0']],
    ['a negative weight', '1', ['2', '-1']],
  ])('refuses %s', (_, amount, weights) => {
    expect(() => partsByWeight(decimalOf(amount), weights.map(decimalOf), 'usd')).toThrow(
      RangeError,
    );
  });

  it('conserves the amount and never gives more to a lesser weight that comes later', () => {
    const weights = fc.array(positive, { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(decimal, weights, currency, (value, parts, code) => {
        fc.pre(parts.some((part) => !part.isZero()));
        const sorted = [...parts].sort((a, b) => b.comparedTo(a));
        const amount = roundMoney(value, code);
        const split = partsByWeight(amount.value, sorted, code);
        expect(sumOf(split)).toEqual(amount.value);
        const sizes = split.map((part) => part.abs());
        expect(sizes.every((size, index) => index === 0 || size.lte(sizes[index - 1] ?? 0))).toBe(
          true,
        );
      }),
    );
  });
});
