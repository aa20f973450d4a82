import { LRUCache } from 'lru-cache';
import { environmentKey, type Environment } from '../../contract/environment.js';

/**
 * How many customer keys are remembered, of all environments together. They take about 5 MB, and at
 * most 25 MB if every external id is as long as it may be.
 */
const KEYS_MAX = 50_000;

/** Asks the database which of these keys belong to no customer. */
type FindUnknown = (keys: readonly string[]) => Promise<readonly string[]>;

/**
 * Customer keys of usage rows that were found to belong to a customer, so that everybody's usage
 * need not look up thousands of them each time. They belong to it for ever: a customer is archived
 * and never removed, and its external id cannot be changed (docs/domain.md 3, 4). An environment
 * with more customers than are remembered has all of them looked up each time.
 */
export class KnownCustomers {
  /** By environment. */
  readonly #found = new LRUCache<string, ReadonlySet<string>>({
    maxSize: KEYS_MAX,
    sizeCalculation: ({ size }) => Math.max(1, size),
  });

  /** Those of the keys that belong to no customer; `find` is asked about unremembered ones only. */
  async unknownOf(
    environment: Environment,
    keys: readonly string[],
    find: FindUnknown,
  ): Promise<readonly string[]> {
    const key = environmentKey(environment);
    const found = this.#found.get(key) ?? new Set<string>();
    const asked = keys.filter((key) => !found.has(key));
    if (asked.length === 0) return [];
    const unknown = await find(asked);
    const isUnknown = new Set(unknown);
    const belonging = asked.filter((key) => !isUnknown.has(key));
    const isKept = belonging.length > 0 && found.size + belonging.length <= KEYS_MAX;
    if (isKept) this.#found.set(key, new Set([...found, ...belonging]));
    return unknown;
  }
}
