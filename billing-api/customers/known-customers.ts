import { LRUCache } from 'lru-cache';
import type { Environment } from '../../contract/environment.js';
import type { Transaction } from '../records/unit.js';
import { findUnknownCustomerKeys } from './customers-store.js';

/**
 * In all environments together: 5 MB of usual ids, 25 MB of the longest. Keys of an environment
 * that do not fit are looked up each time.
 */
const KEYS_MAX = 50_000;

/** Runs work that reads in the environment. */
type Read = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

/**
 * Customer keys of usage rows that were found to belong to a customer, so that everybody's usage
 * need not look up thousands of them each time. They belong to it for ever: a customer is archived
 * and never removed, and its external id cannot be changed (docs/domain.md 3, 4).
 */
export class KnownCustomers {
  /** By environment. */
  readonly #found = new LRUCache<string, ReadonlySet<string>>({
    maxSize: KEYS_MAX,
    sizeCalculation: ({ size }) => Math.max(1, size),
  });

  /** Those of the keys that belong to no customer, as `findUnknownCustomerKeys`. */
  async unknownOf(
    { tenantId, environmentId }: Environment,
    keys: readonly string[],
    read: Read,
  ): Promise<readonly string[]> {
    const environment = `${tenantId} ${environmentId}`;
    const found = this.#found.get(environment) ?? new Set<string>();
    const asked = keys.filter((key) => !found.has(key));
    if (asked.length === 0) return [];
    const unknown = await read((transaction) => findUnknownCustomerKeys(transaction, asked));
    const isUnknown = new Set(unknown);
    const belonging = asked.filter((key) => !isUnknown.has(key));
    const isKept = belonging.length > 0 && found.size + belonging.length <= KEYS_MAX;
    if (isKept) this.#found.set(environment, new Set([...found, ...belonging]));
    return unknown;
  }
}
