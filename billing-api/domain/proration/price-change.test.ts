import { describe, expect, test } from 'vitest';
import { decimalOf } from '../../../contract/decimal.js';
import { settlePrice } from './price-change.js';

const at = (text: string): number => Date.parse(text);
const JANUARY = { startMs: at('2026-01-01T00:00Z'), endMs: at('2026-02-01T00:00Z') };

/** From 100.00 in advance for January to another price on 16 January. */
function settle(charge: string, net = '100', endMs = JANUARY.endMs) {
  const startMs = at('2026-01-16T00:00Z');
  return settlePrice({
    ...{ charge: decimalOf(charge), pauses: [], currency: 'usd', rest: { startMs, endMs } },
    proration: { coveredMs: endMs - startMs, fullMs: JANUARY.endMs - JANUARY.startMs },
    charges: [{ period: JANUARY, net: decimalOf(net) }],
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
    expect(settle('200', '100', at('2026-01-24T00:00Z'))).toBe('25.8');
  });
});
