import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../../../contract/number/decimal.js';
import { Money } from '../../money/money.js';
import { decodeValue } from './decode-value.js';
import { encodeValue, type JsonValue } from './encode-value.js';

/** Through the text, as a stored snapshot goes. */
const again = (value: unknown): unknown =>
  decodeValue(JSON.parse(JSON.stringify(encodeValue(value))) as JsonValue);

const decimals = fc
  .tuple(fc.bigInt(), fc.integer({ min: 0, max: 40 }))
  .map(([digits, places]) => new Decimal(digits.toString()).div(new Decimal(10).pow(places)));
const money = fc
  .tuple(fc.bigInt(), fc.constantFrom('usd', 'jpy', 'bhd'))
  .map(([units, currency]) => new Money(new Decimal(units.toString()), currency));
const PLAIN = { noNullPrototype: true } as const;
const scalars = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, Infinity, -Infinity),
  fc.maxSafeInteger(),
  fc.string(),
  decimals,
  money,
);
const names = fc.oneof(
  fc.constantFrom('a', 'b', '$decimal', '$rows', '__proto__', 'constructor', ''),
  fc.string(),
);
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 8 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4 }).map((members) => ({ ...members })),
    fc.array(fc.tuple(fc.string(), tie('value'))).map((entries) => new Map(entries)),
    fc.array(fc.record({ startMs: fc.integer(), usage: decimals, text: fc.string() }, PLAIN)),
    fc.array(fc.record({ groups: fc.array(fc.record({ usage: decimals }, PLAIN)) }, PLAIN)),
  ),
}));

describe('encodeValue and decodeValue', () => {
  it('return an equal value, whatever it holds', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(isDeepStrictEqual(again(value), value)).toBe(true);
      }),
    );
  });

  it('keep every digit of a decimal', () => {
    const third = new Decimal(1).div(3);
    expect(again([third])).toStrictEqual([third]);
    expect(JSON.stringify(encodeValue(new Decimal('1e-30')))).toContain(`0.${'0'.repeat(29)}1`);
  });

  it('write a month of minutes by column, in little more than its digits', () => {
    const minutes = Array.from({ length: 43_200 }, (_, minute) => ({
      startMs: 1_767_225_600_000 + minute * 60_000,
      endMs: 1_767_225_660_000 + minute * 60_000,
      groups: [{ text: '', usage: new Decimal(minute % 7), eventCount: minute % 7 }],
    }));
    const text = JSON.stringify(encodeValue(minutes));
    expect(text.length / minutes.length).toBeLessThan(45);
    expect(decodeValue(JSON.parse(text) as JsonValue)).toStrictEqual(minutes);
  });

  it.each([
    ['undefined', undefined],
    ['a member that is undefined', { a: undefined }],
    ['NaN', NaN],
    ['a function', () => 0],
    ['a date', new Date(0)],
  ])('refuse %s instead of losing it', (_, value) => {
    expect(() => encodeValue(value)).toThrow(TypeError);
  });

  it.each([
    ['an unknown form', { $other: 1 }],
    ['a form beside a member', { $decimal: '1', a: 1 }],
    ['a decimal that is no text', { $decimal: 1 }],
    ['money without a currency', { $money: ['1'] }],
    ['rows that are none', { $rows: 1 }],
  ])('refuse %s', (_, content) => {
    expect(() => decodeValue(content)).toThrow(TypeError);
  });
});
