import { describe, expect, test } from 'vitest';
import { decimalOf } from '../../../contract/decimal.js';
import { settlePrice } from './price-change.js';

const at = (text: string): number => Date.parse(text);
const JANUARY = { startMs: at('2026-01-01T00:00Z'), endMs: at('2026-02-01T00:00Z') };

/** From 100.00 in advance for January to another price on 16 January. */
function settle(
  full: string,
  net = '100',
  { endMs = JANUARY.endMs, gross = net, left = '1' } = {},
) {
  const startMs = at('2026-01-16T00:00Z');
  return settlePrice({
    ...{ full: decimalOf(full), left: decimalOf(left), pauses: [], currency: 'usd' },
    rest: { startMs, endMs },
    proration: { coveredMs: endMs - startMs, fullMs: JANUARY.endMs - JANUARY.startMs },
    charges: [{ period: JANUARY, net: decimalOf(net), gross: decimalOf(gross) }],
  }).amount.toFixed();
}

describe('a change of price inside a period (23.5)', () => {
  test.each([
    ['200', '100', '51.62'],
    ['100', '100', '0'],
    ['50', '100', '-25.8'],
    ['0', '100', '-51.61'],
    ['200', '50', '77.42'],
  ])('to %s where %s was paid costs %s', (charge, net, expected) => {
    expect(settle(charge, net)).toBe(expected);
  });

  test('of a line that ends before the period sets off what is paid until then alone', () => {
    // (200.00 − 100.00) × 8 ÷ 31: the 8 days after it are given back where it ends.
    expect(settle('200', '100', { endMs: at('2026-01-24T00:00Z') })).toBe('25.8');
  });

  test.each([
    // 103.226 less 5.161, and 46.45 are paid.
    ['200', '90', '1', '51.61'],
    ['100', '90', '1', '0'],
    ['5', '90', '1', '-46.45'],
    // 90.00 less 9.00 were paid: 92.903 less 4.645, and 41.81 less of it.
    ['200', '81', '0.9', '46.45'],
    ['100', '81', '0.9', '0'],
  ])('to %s keeps the fixed discount of %s that were paid, with a share of %s', (...given) => {
    const [full, net, left, expected] = given;
    expect(settle(full, net, { gross: '100', left })).toBe(expected);
  });
});
