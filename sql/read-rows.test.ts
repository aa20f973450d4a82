import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { integerColumn, numericColumn } from './columns.js';
import { createRowReader } from './read-rows.js';

const MANY = 1_000;
const columns = {
  text: z.string(),
  note: z.string().nullable(),
  amount: numericColumn,
  count: integerColumn.nullable(),
  at: z.number().int(),
  share: z.number(),
  flag: z.boolean(),
  kind: z.enum(['a', 'b']),
  tags: z.array(z.string()),
  limited: z.string().max(3),
  price: z.object({ per: numericColumn.transform(Number), unit: z.string().nullable() }),
};
const schema = z.object(columns);
const refined = schema.superRefine(({ at }, context) => {
  if (at < 0) context.addIssue({ code: 'custom', message: 'is before 1970' });
});
const row = {
  text: 't',
  note: null,
  amount: '1.50',
  count: '12',
  at: 5,
  share: 0.5,
  flag: true,
  kind: 'a',
  tags: ['x'],
  limited: 'abc',
  price: { per: '2.5', unit: null },
  other: 'is no member',
};
const values = fc.oneof(
  fc.constantFrom<unknown>('', 'a', 'abcd', '1.5', '-7', '1e5', '12x', true, null, undefined),
  fc.constantFrom<unknown>(
    0,
    -1,
    1.5,
    NaN,
    Infinity,
    2 ** 60,
    [],
    ['a'],
    [1],
    {},
    { per: '1' },
    { per: 1, unit: 'x' },
  ),
);

describe('the reader of many rows', () => {
  it.each([schema, refined])('reads a row as its schema does', (given) => {
    const { other, ...members } = row;
    expect(other).toBe('is no member');
    expect(createRowReader(given, MANY)(row)).toEqual({
      success: true,
      data: { ...members, count: 12, price: { per: 2.5, unit: null } },
    });
  });

  it('agrees with the schema on whatever a row holds', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(columns)), values, (name, value) => {
        for (const each of [schema, refined, schema.strict(), schema.passthrough()]) {
          const given = { ...row, [name]: value };
          const ours = createRowReader(each, MANY)(given);
          const zods = each.safeParse(given);
          expect(ours.success).toBe(zods.success);
          if (ours.success) expect(ours.data).toEqual(zods.data);
          else expect(ours.error.issues).toEqual(zods.error?.issues);
        }
      }),
    );
  });

  test('leaves a member out that a row lacks, as the schema does', () => {
    const optional = z.object({ a: z.string(), b: z.string().optional() });
    expect(createRowReader(optional, MANY)({ a: 'x' })).toEqual({
      success: true,
      data: { a: 'x' },
    });
  });
});
