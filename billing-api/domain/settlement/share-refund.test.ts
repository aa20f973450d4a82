import { describe, expect, test } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { shareRefund } from './share-refund.js';

describe('a refund that names no line', () => {
  test.for([
    ['of all of them by what they cost', ['100', '0'], ['50', '0'], '30', '20.00', '10.00'],
    ['to the cent', ['50', '0'], ['100', '0'], '100.01', '33.34', '66.67'],
    ['by what notes and credits have left', ['100', '60'], ['100', '0'], '140', '40', '100'],
    ['of no line that is used up', ['100', '100'], ['100', '0'], '100', '0', '100'],
    ['no more than is left', ['100', '100'], ['20', '0'], '30', '0', '20'],
    ['of no line that takes off', ['100', '0'], ['-50', '0'], '50', '50', '0'],
  ] as const)('is of lines %s', ([, first, second, refunded, ...parts]) => {
    const lines = [first, second].map(([net, givenBack], place) => ({
      lineId: String(place),
      net: decimalOf(net),
      givenBack: decimalOf(givenBack),
    }));
    const found = shareRefund(lines, decimalOf(refunded), 'usd');
    expect([...found.values()].map(plain)).toEqual(parts.map((part) => plain(decimalOf(part))));
  });

  test('is of nothing where nothing is left, or nothing was refunded', () => {
    const line = { lineId: 'a', net: decimalOf('5'), givenBack: decimalOf('5') };
    expect(shareRefund([line], decimalOf('5'), 'usd').size).toBe(0);
    const whole = { ...line, givenBack: decimalOf('0') };
    expect(shareRefund([whole], decimalOf('0'), 'usd').size).toBe(0);
  });
});
