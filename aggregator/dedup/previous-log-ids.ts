import type { KnownIds } from './known-ids.js';
import { BloomFilter } from './bloom-filter.js';
import { readIds } from './read-ids.js';

/**
 * Ids that were counted on earlier logs. An event with one of them is a duplicate, as with an id of
 * this log (D-009). They belong to no partition of this log, so one filter serves all partitions of
 * the process. Nobody writes to an earlier log while this one is fed, and ids are never removed; so
 * the ids are unchanged as long as their number is.
 */
export class PreviousLogIds {
  #filter: BloomFilter;
  #count = 0;
  #rebuilding: Promise<void> | null = null;

  constructor(
    private readonly ids: Pick<KnownIds, 'ofPreviousLogs'>,
    private readonly falsePositiveRate: number,
  ) {
    this.#filter = new BloomFilter({ falsePositiveRate });
  }

  get size(): number {
    return this.#filter.size;
  }

  /** When it resolves, the filter holds all ids of earlier logs. @throws DependencyError. */
  async refresh(): Promise<void> {
    for (;;) {
      const count = await this.ids.ofPreviousLogs().count();
      if (count === this.#count) return;
      this.#rebuilding ??= this.#rebuild(count).finally(() => {
        this.#rebuilding = null;
      });
      await this.#rebuilding;
    }
  }

  mayContain(ids: Buffer, at: number): boolean {
    return this.#count > 0 && this.#filter.mayContain(ids, at);
  }

  async #rebuild(count: number): Promise<void> {
    const { falsePositiveRate } = this;
    const filter = new BloomFilter({ falsePositiveRate, expectedIds: count });
    // All partitions share the filter, so a partition that is given up must not end this.
    const { signal } = new AbortController();
    const use = (ids: Buffer): void => {
      filter.add(ids);
    };
    await readIds(this.ids.ofPreviousLogs(), { expected: count, signal, use });
    this.#filter = filter;
    this.#count = count;
  }
}
