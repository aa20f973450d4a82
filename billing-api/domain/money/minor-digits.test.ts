import { describe, expect, it } from 'vitest';
import { minorDigitsOf } from './minor-digits.js';

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
