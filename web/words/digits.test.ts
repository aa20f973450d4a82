import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupDigits } from './digits.js';

describe('an amount', () => {
  test.each([
    ['0', '0', '0'],
    ['0.25', '0.25', '0,25'],
    ['999', '999', '999'],
    ['1000', '1,000', '1.000'],
    ['1234567.5', '1,234,567.5', '1.234.567,5'],
    ['-1234567.50', '−1,234,567.50', '−1.234.567,50'],
    ['100000000000000000000.000000000001', '100,000,000,000,000,000,000.000000000001', undefined],
    ['1e5', '1e5', '1e5'],
    ['–', '–', '–'],
  ])('%s is shown as %s and %s', (text, english, german) => {
    expect(groupDigits(text, 'en')).toBe(english);
    if (german !== undefined) expect(groupDigits(text, 'de')).toBe(german);
  });

  test('keeps every digit, whatever its length', () => {
    const digits = fc.stringMatching(/^(0|[1-9]\d{0,40})(\.\d{1,20})?$/);
    fc.assert(
      fc.property(digits, fc.boolean(), (text, isNegative) => {
        const given = isNegative ? `-${text}` : text;
        const shown = groupDigits(given, 'en');
        expect(shown.replaceAll(',', '').replace('−', '-')).toBe(given);
        const german = groupDigits(given, 'de').replaceAll('.', '').replace(',', '.');
        expect(german.replace('−', '-')).toBe(given);
      }),
    );
  });
});
