import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGGREGATION_TYPES, COUNT_EVENTS, type MeterAggregation } from './aggregation.js';
import { plain } from './number/decimal.js';
import { compileValueRule, type EventValue } from './event-value.js';
import { decimalText, SCALE, scaledValue } from '../load-tests/harness/value-reference.js';

const hashText = (text: string): string => `hash of ${text}`;

function valueOf(aggregation: Partial<MeterAggregation>, texts: readonly (string | null)[]) {
  const rule = compileValueRule({ ...COUNT_EVENTS, ...aggregation }, hashText);
  return rule.valueOf(texts);
}

/** Digits of a value, or `unreadable`. */
function told({ value, isUnreadable }: EventValue): string {
  return isUnreadable ? 'unreadable' : plain(value);
}
const sumOf = (text: string | null, multiplier: string | null = null): string =>
  told(valueOf({ type: 'SUM', field: 'n', multiplier }, [text]));

describe('the value of an event', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['1.50', '1.5'],
    ['+7', '7'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['1e3', '1000'],
    ['1.5E-3', '0.0015'],
    ['1e30', `1${'0'.repeat(30)}`],
    ['1e38', `1${'0'.repeat(38)}`],
    ['1e-18', '0.000000000000000001'],
    ['1.9e-18', '0.000000000000000001'],
    ['1e-30', '0'],
    ['1e-999999999', '0'],
    [`0.${'0'.repeat(60)}1`, '0'],
    ['0.9999999999999999999', '0.999999999999999999'],
    [`0.${'9'.repeat(900)}`, '0.999999999999999999'],
    [`${'9'.repeat(39)}.${'9'.repeat(18)}`, `${'9'.repeat(39)}.${'9'.repeat(18)}`],
    ['-3', '0'],
  ])('reads %s exactly, cut and not rounded', (text, value) => {
    expect(sumOf(text)).toBe(value);
  });

  it.each([
    null,
    '',
    ' 1',
    '1 ',
    '1,5',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e39',
    '1e999999999',
    `1e${'9'.repeat(900)}`,
    '-1e999999999',
    '9'.repeat(40),
    '9'.repeat(60_000),
    'x'.repeat(60_000),
    '١',
    '1\n',
    '--1',
    '1e',
    '.',
  ])('calls %s unreadable and takes it as 0', (text) => {
    const value = valueOf({ type: 'SUM', field: 'n' }, [text]);
    expect([value.isUnreadable, plain(value.value)]).toEqual([true, '0']);
  });

  it('multiplies before it cuts, exactly, however many digits a text has', () => {
    expect(sumOf('0.0000000000000000019', '10')).toBe('0.000000000000000019');
    expect(sumOf(`0.${'3'.repeat(899)}4`, '3')).toBe('1');
    expect(sumOf(`0.${'3'.repeat(900)}`, '3')).toBe('0.999999999999999999');
    expect(sumOf('1e38', '9.999')).toBe(`9999${'0'.repeat(35)}`);
    expect(sumOf('1e38', '10')).toBe('unreadable');
  });

  it.each([
    ['(0.001 / ceil(n))', '0.3', '2.5', '0.0001'],
    ['n / 3', '3', '1', '1'],
    ['n / 3', null, '2', '0.666666666666666666'],
    ['floor(n / 3 * 3)', null, '1', '1'],
    ['n / 3 * 3 == n ? 5 : 6', null, '1', '5'],
    ['(n / 3 * 3) % 1', null, '1', '0'],
    ['n / 3', '3', '1e39', 'unreadable'],
    ['n / 3', '0.3', '1e39', `1${'0'.repeat(38)}`],
    ['n / -3', null, '1', '0'],
    ['n / 3', '0.000000000000000001', '2', '0'],
  ])(
    '%s times %s of %s is %s: cut once, after exact quotients',
    (...[expression, multiplier, n, value]) => {
      expect(told(valueOf({ type: 'SUM', expression, multiplier }, [n]))).toBe(value);
    },
  );

  it('takes a negative value as 0 without calling it unreadable, but for WEIGHTED_SUM', () => {
    for (const type of AGGREGATION_TYPES) {
      if (type === 'COUNT' || type === 'COUNT_UNIQUE') continue;
      const value = told(valueOf({ type, field: 'n' }, ['-2.5']));
      expect([type, value]).toEqual([type, type === 'WEIGHTED_SUM' ? '-2.5' : '0']);
    }
  });

  it('counts without looking at texts, and tells texts apart by their hash', () => {
    expect(valueOf({}, [])).toMatchObject({ isUnreadable: false, unique: null });
    expect(valueOf({ type: 'COUNT_UNIQUE', field: 'n' }, ['']).unique).toBe('hash of ');
    expect(valueOf({ type: 'COUNT_UNIQUE', field: 'n' }, [null])).toMatchObject({
      isUnreadable: true,
      unique: null,
    });
  });

  it('agrees with whole-number arithmetic, whatever the text and multiplier', () => {
    const multiplier = fc.option(fc.constantFrom('0.001', '3', '1000000', '0.333333333333333333'));
    fc.assert(
      fc.property(decimalText, multiplier, (text, factor) => {
        const scaled = scaledValue(text, factor);
        const expected = scaled === null ? null : scaled < 0n ? 0n : scaled;
        const { value, isUnreadable } = valueOf({ type: 'SUM', field: 'n', multiplier: factor }, [
          text,
        ]);
        expect(isUnreadable).toBe(expected === null);
        expect(BigInt(value.times(SCALE.toString()).toFixed())).toBe(expected ?? 0n);
      }),
      { numRuns: 500 },
    );
  });
});
