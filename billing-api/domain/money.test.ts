import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf } from '../../contract/decimal.js';
import {
  allocate,
  allocateByWeight,
  displayAmount,
  formatMoney,
  minorDigitsOf,
  roundMoney,
} from './money.js';

const CURRENCIES = ['usd', 'jpy', 'kwd', 'clf'] as const;
const currency = fc.constantFrom(...CURRENCIES);

/** Any decimal with up to 18 fraction digits. */
const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, scale]) => new Decimal(digits.toString()).times(new Decimal(10).pow(-scale)));
const positive = decimal.map((value) => value.abs());

const texts = (values: readonly Decimal[]): string[] => values.map((value) => value.toFixed());
const sumOf = (values: readonly Decimal[]): Decimal =>
  values.reduce((sum, value) => sum.plus(value), ZERO);
const itself = (value: Decimal): Decimal => value;
const partsByShare = (amount: Decimal, shares: readonly Decimal[], code: string): Decimal[] =>
  allocate(amount, shares, { shareOf: itself, currency: code }).map(([, part]) => part);
const partsByWeight = (amount: Decimal, weights: readonly Decimal[], code: string): Decimal[] =>
  allocateByWeight(amount, weights, { weightOf: itself, currency: code }).map(([, part]) => part);
const unitOf = (code: string): Decimal => new Decimal(10).pow(-minorDigitsOf(code));

describe('minor digits (6.2)', () => {
  it.each([
    [0, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'],
    [3, 'bhd iqd jod kwd lyd omr tnd'],
    [4, 'clf uyw'],
    [2, 'usd eur gbp chf mxn huf twd'],
  ])('are %i for %s', (digits, codes) => {
    expect(new Set(codes.split(' ').map(minorDigitsOf))).toEqual(new Set([digits]));
  });

  it('do not depend on the case of the code', () => {
    expect(minorDigitsOf('JPY')).toBe(0);
  });
});

describe('roundMoney (6.2)', () => {
  it.each([
    ['usd', '3.085', '3.09'],
    ['usd', '3.084999999999999999', '3.08'],
    ['usd', '-3.085', '-3.09'],
    ['usd', '0.004', '0.00'],
    ['usd', '-0.004', '0.00'],
    ['usd', '0.005', '0.01'],
    ['jpy', '10.5', '11'],
    ['jpy', '-10.5', '-11'],
    ['kwd', '1.0005', '1.001'],
    ['clf', '1.00005', '1.0001'],
    ['usd', '999999999999.995', '1000000000000.00'],
  ])('rounds half-up away from zero: %s %s to %s', (code, exact, rounded) => {
    expect(formatMoney(roundMoney(decimalOf(exact), code), code)).toBe(rounded);
  });

  it('takes a sum of quotients for the value it stands for', () => {
    // Six sixths of half a cent are less than half a cent by the last digit of the precision.
    const sixths = Array.from({ length: 6 }, () => decimalOf('0.005').dividedBy(6));
    expect(sumOf(sixths).lessThan('0.005')).toBe(true);
    expect(roundMoney(sumOf(sixths), 'usd').toFixed()).toBe('0.01');
  });

  it('is idempotent, symmetric about zero and never more than half a unit away', () => {
    fc.assert(
      fc.property(decimal, currency, (value, code) => {
        const rounded = roundMoney(value, code);
        expect(roundMoney(rounded, code)).toEqual(rounded);
        expect(roundMoney(value.negated(), code).plus(rounded).isZero()).toBe(true);
        expect(rounded.minus(value).abs().times(2).lessThanOrEqualTo(unitOf(code))).toBe(true);
      }),
    );
  });

  it('never turns a greater value into a lesser amount', () => {
    fc.assert(
      fc.property(decimal, positive, currency, (value, more, code) => {
        const [low, high] = [roundMoney(value, code), roundMoney(value.plus(more), code)];
        expect(high.greaterThanOrEqualTo(low)).toBe(true);
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
    expect(formatMoney(decimalOf(value), code)).toBe(text);
  });

  it('writes a negative zero without its sign', () => {
    expect(formatMoney(new Decimal('-0'), 'usd')).toBe('0.00');
  });

  it('refuses to round what was not rounded', () => {
    expect(() => formatMoney(decimalOf('3.085'), 'usd')).toThrow(RangeError);
  });
});

describe('allocate (6.5)', () => {
  it('gives the unit to the earlier of two equal thirds, however large the later one is', () => {
    const thirds = ['20', '500000000000'].map((text) => decimalOf(text).dividedBy(3));
    const parts = partsByShare(decimalOf('166666666673.33'), thirds, 'usd');
    expect(parts.map((part) => part.toFixed())).toEqual(['6.67', '166666666666.66']);
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
    const parts = allocate(decimalOf('10'), items, { shareOf, currency: 'usd' });
    expect(parts.map(([{ name }, part]) => `${name} ${part.toFixed()}`)).toEqual([
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
        const parts = partsByShare(amount, shares, code);
        expect(sumOf(parts).equals(amount)).toBe(true);
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
        const mirrored = partsByShare(amount.negated(), negated, code);
        expect(texts(mirrored.map((part) => part.negated().plus(0)))).toEqual(
          texts(partsByShare(amount, shares, code)),
        );
      }),
    );
  });

  it('keeps every part below the cap of its line when the shares do', () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1, maxLength: 8 }), currency, (shares, code) => {
        const caps = shares.map((share) => share.toDecimalPlaces(minorDigitsOf(code), 0));
        const parts = partsByShare(roundMoney(sumOf(shares), code), shares, code);
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
        const split = partsByWeight(amount, sorted, code);
        expect(sumOf(split).equals(amount)).toBe(true);
        const sizes = split.map((part) => part.abs());
        expect(sizes.every((size, index) => index === 0 || size.lte(sizes[index - 1] ?? 0))).toBe(
          true,
        );
      }),
    );
  });
});

describe('displayAmount (8)', () => {
  it.each([
    ['0.0025', 'usd', '$0.0025'],
    ['10.00', 'usd', '$10'],
    ['1200', 'jpy', '¥1200'],
    ['5', 'eur', '€5'],
    ['5', 'cad', '$5'],
    ['1.5', 'chf', 'CHF 1.5'],
    ['1.5', 'kwd', 'KWD 1.5'],
    ['7', 'zzz', 'ZZZ 7'],
  ])('writes %s %s as %s', (amount, code, text) => {
    expect(displayAmount(decimalOf(amount), code)).toBe(text);
  });
});
