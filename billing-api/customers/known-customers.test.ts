import { expect, test } from 'vitest';
import { KnownCustomers } from './known-customers.js';

const HERE = { tenantId: 't1', environmentId: 'e1' };

/**
 * Stands for the database: it knows which keys belong to a customer, and notes how many keys each
 * question is about.
 */
class Customers {
  readonly keys = new Set<string>();
  readonly asked: number[] = [];

  readonly findUnknown = (keys: readonly string[]): Promise<readonly string[]> => {
    this.asked.push(keys.length);
    return Promise.resolve(keys.filter((key) => !this.keys.has(key)));
  };
}

test('a key that belongs to a customer is looked up once, one that does not each time', async () => {
  const known = new KnownCustomers();
  const customers = new Customers();
  const ask = (...keys: readonly string[]) => known.unknownOf(HERE, keys, customers.findUnknown);
  customers.keys.add('e:a');
  expect(await ask('e:a', 'e:b')).toEqual(['e:b']);
  expect(await ask('e:a', 'e:b')).toEqual(['e:b']);
  customers.keys.add('e:b');
  expect(await ask('e:a', 'e:b')).toEqual([]);
  expect(await ask('e:a', 'e:b')).toEqual([]);
  expect(customers.asked).toEqual([2, 1, 1]);
});

test('more keys than are kept are looked up each time', async () => {
  const known = new KnownCustomers();
  const customers = new Customers();
  const keys = Array.from({ length: 50_001 }, (_, index) => `e:${index}`);
  for (const key of keys) customers.keys.add(key);
  const kept = keys.slice(1);
  for (const some of [keys, keys, kept, kept]) {
    expect(await known.unknownOf(HERE, some, customers.findUnknown)).toEqual([]);
  }
  expect(customers.asked).toEqual([50_001, 50_001, 50_000]);
});

test('a key that is known in one environment is looked up in another', async () => {
  const known = new KnownCustomers();
  const customers = new Customers();
  customers.keys.add('e:a');
  for (const environment of [HERE, { ...HERE, environmentId: 'e2' }, { ...HERE, tenantId: 't2' }]) {
    expect(await known.unknownOf(environment, ['e:a'], customers.findUnknown)).toEqual([]);
  }
  expect(customers.asked).toEqual([1, 1, 1]);
});
