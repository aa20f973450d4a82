import { describe, expect } from 'vitest';
import { createSeededRandom } from '../../../load-tests/harness/seeded-random.js';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { FEATURES } from '../../declarations/catalog/feature.resource.js';
import { PLANS } from '../../declarations/catalog/plan.resource.js';
import { PRICE_UNITS } from '../../declarations/catalog/price-unit.resource.js';
import { PRICES } from '../../declarations/catalog/price.resource.js';
import { CUSTOMERS } from '../../declarations/customers/customer.resource.js';
import { ENTITLEMENTS } from '../../declarations/entitlements/entitlement.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import {
  HOSTILE_DATES,
  HOSTILE_NUMBERS,
  HOSTILE_TEXTS,
} from '../../../load-tests/harness/hostile-values.js';
import { test } from '../../testing/billing-test.js';

const SEARCHES = {
  '/v1/features/search': FEATURES,
  '/v1/plans/search': PLANS,
  '/v1/prices/search': PRICES,
  '/v1/prices/units/search': PRICE_UNITS,
  '/v1/customers/search': CUSTOMERS,
  '/v1/entitlements/search': ENTITLEMENTS,
  '/v1/subscriptions/search': SUBSCRIPTIONS,
};

/** The operators of each kind of value, and one that does not go with it. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  string: ['eq', 'neq', 'contains', 'not_contains', 'gt'],
  number: ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in'],
  boolean: ['eq', 'neq', 'contains'],
  date: ['eq', 'before', 'after', 'gt', 'gte', 'lt', 'lte', 'neq'],
  array: ['in', 'not_in', 'in', 'not_in', 'eq'],
};

/** One of each kind of value, as JSON text: JSON.stringify cannot write all of them. */
function hostileValues(): readonly string[] {
  const texts = [...HOSTILE_TEXTS, ...HOSTILE_DATES];
  const quoted = texts.map((text) => JSON.stringify(text));
  const values = [
    ...quoted.map((text) => `{"string":${text}}`),
    ...HOSTILE_DATES.map((text) => `{"date":${JSON.stringify(text)}}`),
    ...HOSTILE_NUMBERS.map((text) => `{"number":${text}}`),
    '{"boolean":true}',
    '{"array":[]}',
  ];
  const numbers = HOSTILE_NUMBERS.map((text) => JSON.stringify(text));
  return [...values, ...[...quoted, ...numbers].map((text) => `{"array":[${text}]}`)];
}

const operatorsOf = (value: string): readonly string[] =>
  OPERATORS[/\w+/.exec(value)?.[0] ?? ''] ?? [];

/** How many of the values meet each field; which ones, and with which operator, is drawn. */
const VALUES_PER_FIELD = 4;

describe('a filter value that is hostile', () => {
  test('is compared or refused by name, of every field', async ({ api }) => {
    const seed = drawSeed();
    const random = createSeededRandom(seed);
    const values = hostileValues();
    await api.make('/v1/plans', { name: 'Pro', metadata: { a: 1 } });
    const requests = Object.entries(SEARCHES).flatMap(([path, { members }]) =>
      [...Object.keys(members), 'metadata.a'].flatMap((field) =>
        Array.from({ length: VALUES_PER_FIELD }, () => {
          const value = random.pick(values);
          const operator = random.pick(operatorsOf(value));
          const filter = `{"field":"${field}","operator":"${operator}","value":${value}}`;
          return { path, raw: `{"filters":[${filter}]}` };
        }),
      ),
    );
    const problems: string[] = [];
    for (const { path, raw } of requests) {
      const { status, body } = await api.call('POST', path, { raw });
      // A zero character is refused before the members are known.
      const [named = ''] = Object.keys(body.details ?? { filters: body.message });
      if (status === 200 || (status === 400 && named.startsWith('filters'))) continue;
      problems.push(`${path} ${raw.slice(0, 300)} ${status} ${named}`);
    }
    expect([seed, problems]).toEqual([seed, []]);
  });

  test('reads a date as the instant it means, alone and in a list', async ({ api, clock }) => {
    clock.set('2026-01-01T00:00:00.000Z');
    await api.make('/v1/plans', { name: 'Pro' });
    const found = async (value: object): Promise<number> => {
      const filters = [{ field: 'created_at', value }];
      return (await api.make('/v1/plans/search', { filters })).items.length;
    };
    for (const date of ['2026-01-01T20:00:00+20:00', '2025-12-31T00:01:00-23:59']) {
      expect([date, await found({ date }), await found({ array: [date] })]).toEqual([date, 1, 1]);
    }
    expect(await found({ array: ['2026-01-01 00:00:00,0009Z'] })).toBe(1);
  });
});
