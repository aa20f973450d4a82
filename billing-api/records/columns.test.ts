import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { textKeyed } from './columns.js';

describe('an object with the keys of callers', () => {
  const schema = z.object({ filters: textKeyed(z.array(z.string())) });

  test('keeps every key, whatever it is called', () => {
    const text = '{"filters":{"__proto__":["nope"],"constructor":["a"],"1":["b"]}}';
    expect(schema.parse(JSON.parse(text)).filters).toEqual(
      Object.fromEntries([
        ['__proto__', ['nope']],
        ['constructor', ['a']],
        ['1', ['b']],
      ]),
    );
    expect(Object.keys(schema.parse(JSON.parse(text)).filters)).toContain('__proto__');
  });

  test('is refused when a value is of another type, also that of __proto__', () => {
    for (const text of ['{"a":1}', '{"__proto__":1}', '[]', 'null', '"a"']) {
      const parsed = schema.safeParse({ filters: JSON.parse(text) as unknown });
      expect([text, parsed.success]).toEqual([text, false]);
    }
  });
});
