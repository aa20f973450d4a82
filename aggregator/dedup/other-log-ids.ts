import type { KnownIds } from '../sink/known-ids.js';
import { BloomFilter } from './bloom-filter.js';
import { readIds } from './read-ids.js';

/**
 * Ids counted on logs before this one, which bar an id like those of this log (D-009). They belong
 * to no partition of this log, so one filter serves all partitions of the process. Nobody writes
 * them while this log is fed, and ids are never removed: as long as their number is the same, so
 * are they.
 */
export class OtherLogIds {
  #filter: BloomFilter;
  #count = 0;
  #rebuilding: Promise<void> | null = null;

  constructor(
    private readonly ids: Pick<KnownIds, 'ofOtherLogs'>,
    private readonly falsePositiveRate: number,
  ) {
    this.#filter = new BloomFilter({ falsePositiveRate });
  }

  get size(): number {
    return this.#filter.size;
  }

  /** Knows all that are stored when it resolves. @throws DependencyError. */
  async refresh(): Promise<void> {
    for (;;) {
      const count = await this.ids.ofOtherLogs().count();
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
    // Partitions share it, so none of them may end it when it is given up.
    const { signal } = new AbortController();
    const use = (ids: Buffer): void => {
      filter.add(ids);
    };
    await readIds(this.ids.ofOtherLogs(), { expected: count, signal, use });
    this.#filter = filter;
    this.#count = count;
  }
}
