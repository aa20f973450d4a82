import { describe, expect } from 'vitest';
import { test } from '../../testing/billing-test.js';
import { requestLists, type RequestList } from '../../testing/request-lists.js';

/** Dozens of lists, some of them with thousands of elements. */
const GENEROUS = { timeout: 120_000 };

const ELEMENTS: Readonly<Record<string, unknown>> = { string: 'x', object: {}, array: [] };

/** A body that has nothing but the list, with this number of elements. */
function bodyOf({ path, elementType }: RequestList, length: number): unknown {
  const list: unknown = Array.from({ length }, () => ELEMENTS[elementType]);
  return path.reduceRight<unknown>((inner, name) => {
    if (name === '[]') return [inner];
    return { [name === '*' ? 'key' : name]: inner };
  }, list);
}

/** The path as the details of an answer name it. */
function nameOf({ path }: RequestList): string {
  const names = path.map((name) => (name === '[]' ? '0' : name === '*' ? 'key' : name));
  return names.join('.');
}

describe('every list of a request body', () => {
  test('may be as long as its limit and no longer', GENEROUS, async ({ api }) => {
    const lists = requestLists().filter(
      ({ operation }) => !operation.startsWith('POST /v1/events/bulk'),
    );
    for (const list of lists) {
      const [method = '', path = ''] = list.operation.split(' ');
      const limit = list.maxItems ?? 0;
      const send = (length: number) =>
        api.call(method, path.replaceAll(/\{\w+\}/g, 'x'), { body: bodyOf(list, length) });
      const name = nameOf(list);
      const problem = `must have at most ${limit} elements`;
      const { status, body } = await send(limit + 1);
      expect([list.operation, name, status]).toEqual([list.operation, name, 400]);
      expect([list.operation, name, body.details?.[name]]).toEqual([list.operation, name, problem]);
      const atLimit = await send(limit);
      expect(JSON.stringify(atLimit.body)).not.toContain('must have at most');
    }
  });
});
