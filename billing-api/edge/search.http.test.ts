import { describe, expect } from 'vitest';
import { expectRefusals, test } from '../testing/billing-test.js';

const SEARCH = '/v1/plans/search';

describe('the common search body', () => {
  test('compares every pair of operator and type', async ({ api, clock }) => {
    clock.set('2026-01-01T00:00:00Z');
    await api.make('/v1/plans', {
      name: 'Alpha',
      display_order: 1,
      lookup_key: 'a',
      metadata: { kind: 'base', seats: 5, live: true },
    });
    clock.set('2026-02-01T00:00:00Z');
    await api.make('/v1/plans', {
      name: 'Beta',
      display_order: 2,
      metadata: { kind: 'extra', seats: '5' },
    });
    clock.set('2026-03-01T00:00:00Z');
    await api.make('/v1/plans', { name: 'Gamma 100%_' });
    const found = async (...filters: readonly unknown[]): Promise<string> => {
      const sort = [{ field: 'name', direction: 'asc' }];
      const { items } = await api.make(SEARCH, { filters, sort });
      return items.map((plan: { name: string }) => plan.name[0]).join('');
    };
    const name = (operator: string, string: string) => ({
      field: 'name',
      operator,
      value: { string },
    });
    const order = (operator: string, number: number) => ({
      field: 'display_order',
      operator,
      value: { number },
    });
    const created = (operator: string, date: string) => ({
      field: 'created_at',
      operator,
      value: { date },
    });
    const february = '2026-02-01T01:00:00+01:00';
    const cases: readonly (readonly [string, unknown])[] = [
      ['A', name('eq', 'Alpha')],
      ['BG', name('neq', 'Alpha')],
      ['B', name('contains', 'ta')],
      ['G', name('contains', '%_')],
      ['AB', name('not_contains', '%')],
      ['A', { field: 'name', value: { string: 'Alpha', number: null } }],
      ['A', order('eq', 1)],
      ['BG', order('neq', 1)],
      ['B', order('gt', 1)],
      ['AB', order('gte', 1)],
      ['A', order('lt', 2)],
      ['AB', order('lte', 2.0)],
      ['', order('eq', 1e300)],
      ['B', created('eq', february)],
      ['A', created('before', february)],
      ['G', created('after', february)],
      ['G', created('gt', february)],
      ['BG', created('gte', february)],
      ['A', created('lt', february)],
      ['AB', created('lte', february)],
      ['AG', { field: 'name', operator: 'in', value: { array: ['Alpha', 'Gamma 100%_'] } }],
      ['AB', { field: 'display_order', value: { array: ['1', '2.0'] } }],
      ['BG', { field: 'lookup_key', operator: 'not_in', value: { array: ['a'] } }],
      ['B', { field: 'created_at', value: { array: ['2026-02-01T00:00:00Z'] } }],
      ['ABG', { field: 'name', operator: 'in', value: { array: [] } }],
      ['ABG', { field: 'name', operator: 'not_in', value: { array: [] } }],
      ['B', created('eq', '2026-02-01')],
      ['BG', created('gte', '2026-02-01')],
      ['B', { field: 'created_at', value: { array: ['2026-02-01'] } }],
      ['A', { field: 'metadata.kind', value: { string: 'base' } }],
      ['BG', { field: 'metadata.kind', operator: 'neq', value: { string: 'base' } }],
      ['A', { field: 'metadata.seats', operator: 'gte', value: { number: 5 } }],
      ['A', { field: 'metadata.live', operator: 'eq', value: { boolean: true } }],
      ['AB', { field: 'metadata.seats', operator: 'in', value: { array: ['5'] } }],
      ['A', { field: 'name', data_type: 'string', value: { string: 'Alpha', number: 7 } }],
    ];
    for (const [expected, filter] of cases) {
      expect([JSON.stringify(filter), await found(filter)]).toEqual([
        JSON.stringify(filter),
        expected,
      ]);
    }
    expect(await found(name('neq', 'Alpha'), order('eq', 2))).toBe('B');
  });

  test('takes values of any form as values, never as SQL', async ({ api }) => {
    await api.make('/v1/plans', { name: "Robert'); DROP TABLE plans;--" });
    const texts = ["'", "'; DROP TABLE plans; --", '" OR 1=1', '$1', '%', '\\', '${x}', '{}'];
    for (const string of texts) {
      const value = { string };
      const filters = [
        { field: 'name', operator: 'eq', value },
        { field: `metadata.${string}`, operator: 'neq', value },
      ];
      expect((await api.make(SEARCH, { filters })).items).toEqual([]);
    }
    const field = 'name) OR (1=1';
    await expectRefusals(api, SEARCH, [
      ['a field of SQL', { filters: [{ field, value: { string: 'x' } }] }, 'filters.0'],
      ['a sort of SQL', { sort: [{ field: 'name; DROP TABLE plans' }] }, 'sort.0'],
      [
        'a member of Object',
        { filters: [{ field: 'constructor', value: { string: 'x' } }] },
        'filters.0',
      ],
    ]);
    expect((await api.make(SEARCH, {})).pagination.total).toBe(1);
  });

  test('refuses what it does not compare', async ({ api }) => {
    const filter = (members: object) => ({ filters: [{ field: 'name', ...members }] });
    const many = (count: number, element: unknown): unknown[] =>
      Array<unknown>(count).fill(element);
    const fine = { field: 'name', value: { string: 'x' } };
    await expectRefusals(api, SEARCH, [
      ['an unknown field', filter({ field: 'colour', value: { string: 'x' } }), 'filters.0'],
      ['no value', filter({}), 'filters.0.value'],
      ['an empty value', filter({ value: {} }), 'filters.0'],
      ['two values', filter({ value: { string: 'x', number: 1 } }), 'filters.0'],
      [
        'a value of another type than said',
        filter({ data_type: 'number', value: { string: 'x' } }),
        'filters.0',
      ],
      ['gt of a text', filter({ operator: 'gt', value: { string: 'x' } }), 'filters.0'],
      [
        'contains of a number',
        filter({ field: 'display_order', operator: 'contains', value: { number: 1 } }),
        'filters.0',
      ],
      ['in of a text', filter({ operator: 'in', value: { string: 'x' } }), 'filters.0'],
      [
        'neq of a date',
        filter({ field: 'created_at', operator: 'neq', value: { date: '2026-01-01T00:00:00Z' } }),
        'filters.0',
      ],
      ['a number for a text', filter({ value: { number: 1 } }), 'filters.0'],
      [
        'a text for a number',
        filter({ field: 'display_order', value: { string: '1' } }),
        'filters.0',
      ],
      [
        'a date that is none',
        filter({ field: 'created_at', value: { date: '2026-02-30T00:00:00Z' } }),
        'filters.0',
      ],
      [
        'a list with a text for a number',
        filter({ field: 'display_order', value: { array: ['x'] } }),
        'filters.0',
      ],
      [
        'a date on metadata',
        filter({ field: 'metadata.a', value: { date: '2026-01-01T00:00:00Z' } }),
        'filters.0',
      ],
      [
        'an unknown operator',
        filter({ operator: 'like', value: { string: 'x' } }),
        'filters.0.operator',
      ],
      ['21 filters', { filters: many(21, fine) }, 'filters'],
      ['6 sort fields', { sort: many(6, { field: 'name' }) }, 'sort'],
      ['an unknown direction', { sort: [{ field: 'name', direction: 'up' }] }, 'sort.0.direction'],
      ['limit 0', { limit: 0 }, 'limit'],
      ['limit 1001', { limit: 1001 }, 'limit'],
      ['limit as text', { limit: '10' }, 'limit'],
      ['offset -1', { offset: -1 }, 'offset'],
      [
        'a range turned round',
        { start_time: '2026-01-02T00:00:00Z', end_time: '2026-01-01T00:00:00Z' },
        'end_time',
      ],
      ['an unknown expansion', { expand: 'prices,colour' }, 'expand'],
      ['an unknown status', { status: 'active' }, 'status'],
      ['an unknown member', { query: 'x' }, 'query'],
    ]);
  });

  test('sorts by several members, pages without gaps, and bounds created_at', async ({
    api,
    clock,
  }) => {
    for (const [index, name] of ['a', 'b', 'a', 'c', 'b'].entries()) {
      clock.set(`2026-01-0${index + 1}T00:00:00Z`);
      await api.make('/v1/plans', { name, display_order: index });
    }
    const sort = [{ field: 'name', direction: 'asc' }, { field: 'display_order' }];
    const all = await api.make(SEARCH, { sort });
    const orders = (answer: { items: { display_order: number }[] }): number[] =>
      answer.items.map((plan) => plan.display_order);
    expect(orders(all)).toEqual([2, 0, 4, 1, 3]);
    const pages = [];
    for (const offset of [0, 2, 4]) {
      const page = await api.make(SEARCH, { sort: [{ field: 'name' }], limit: 2, offset });
      expect(page.pagination).toEqual({ limit: 2, offset, total: 5 });
      pages.push(...orders(page));
    }
    expect(pages.sort()).toEqual([0, 1, 2, 3, 4]);
    const range = { start_time: '2026-01-02T00:00:00Z', end_time: '2026-01-04T00:00:00Z' };
    expect(orders(await api.make(SEARCH, range))).toEqual([2, 1]);
  });
});
