import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant, minuteOf, parseInstant } from './instant.js';

describe('parseInstant', () => {
  it('reads the common form exactly as any other notation of it', () => {
    const digits = (count: number): fc.Arbitrary<string> =>
      fc.stringMatching(new RegExp(`^[0-9]{${count}}$`));
    const fields = fc.tuple(
      digits(4),
      fc.constantFrom('00', '01', '02', '06', '11', '12', '13'),
      fc.constantFrom('00', '01', '15', '28', '29', '30', '31', '32', '3x'),
      fc.constantFrom('00', '09', '23', '24', '1:'),
      fc.constantFrom('00', '59', '60', ' 1'),
      fc.constantFrom('00', '59', '60', '61', '5Z'),
      fc.oneof(fc.constant(''), digits(3), digits(2), digits(4), fc.constant('1 3')),
    );
    fc.assert(
      fc.property(fields, ([year, month, day, hour, minute, second, fraction]) => {
        const point = fraction === '' ? '' : '.';
        const local = `${year}-${month}-${day}T${hour}:${minute}:${second}${point}${fraction}`;
        expect(parseInstant(`${local}Z`)).toBe(parseInstant(`${local}+00:00`));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20t10:00:00z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:00.1239999+01:00', '2026-11-20T09:00:00.123Z'],
    ['2026-11-20T10:00:00,5-0130', '2026-11-20T11:30:00.500Z'],
    ['2024-02-29T23:59:59.999+14:00', '2024-02-29T09:59:59.999Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00.000Z'],
  ])('reads %s', (text, instant) => {
    const parsed = parseInstant(text);
    expect(parsed === null ? null : formatInstant(parsed)).toBe(instant);
  });

  it.each([
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01',
    '1767225600000',
    '20260101T000000Z',
    ' 2026-01-01T00:00:00Z',
    `2026-01-01T00:00:00.${'1'.repeat(100)}Z`,
    '',
  ])('refuses %s', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it('reads back every instant it writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) }), (instant) => {
        expect(parseInstant(formatInstant(instant))).toBe(instant);
      }),
    );
  });
});

describe('minuteOf', () => {
  it('is the start of the minute that contains the instant, before 1970 too', () => {
    expect([minuteOf(0), minuteOf(59_999), minuteOf(60_000), minuteOf(-1)]).toEqual([
      0, 0, 60_000, -60_000,
    ]);
  });
});
