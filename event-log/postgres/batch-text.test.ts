import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeValues, encodeBatch } from './batch-text.js';

describe('packing records into one row', () => {
  test('writes keys and values one after another, so that SQL can read them', () => {
    const batch = encodeBatch([
      { key: 't|e|1', value: '{"a":1}' },
      { key: '', value: '{}' },
    ]);
    expect(batch).toEqual({ lengths: '5:7,0:2', payload: 't|e|1{"a":1}{}' });
  });

  test('keeps U+0000 out of the row and gives it back', () => {
    const values = ['a\0b', '\u0001', '\u0001\u0002', '\0\0\u0001'];
    const batch = encodeBatch(values.map((value) => ({ key: 'k\0', value })));
    expect(batch.payload).not.toContain('\0');
    expect(decodeValues(batch)).toEqual(values);
  });

  test('gives back all values in order, whatever their texts', () => {
    const text = fc.string({ unit: fc.constantFrom('\0', '\u0001', '\u0002', 'é', '😀', 'x') });
    const record = fc.record({ key: text, value: text });
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 20 }), (records) => {
        const values = decodeValues(encodeBatch(records));
        expect(values).toEqual(records.map(({ value }) => value));
      }),
    );
  });

  test('fails for a payload that is cut off', () => {
    const batch = encodeBatch([{ key: 'k', value: 'value' }]);
    expect(() => decodeValues({ ...batch, payload: batch.payload.slice(0, -1) })).toThrow(
      'do not add up',
    );
  });
});
