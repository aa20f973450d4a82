import type { UsageStore } from '../sink/usage-store.js';
import { BloomFilter } from './bloom-filter.js';

/**
 * Ids that may have been counted in one partition. It only spares look-ups: what it calls perhaps
 * known is asked of the table, and what it does not know was never stored, because it is built
 * after the drain and told of every batch.
 */
export class IdFilter {
  #filter = new BloomFilter();

  constructor(private readonly store: Pick<UsageStore, 'countIds' | 'ids'>) {}

  get size(): number {
    return this.#filter.size;
  }

  /** Builds the filter anew from the stored ids. @throws DependencyError. */
  async rebuild(): Promise<void> {
    const filter = new BloomFilter(await this.store.countIds());
    for await (const idHashes of this.store.ids()) {
      for (const idHash of idHashes) filter.add(idHash);
    }
    this.#filter = filter;
  }

  add(idHashes: Iterable<string>): void {
    for (const idHash of idHashes) this.#filter.add(idHash);
  }

  /** The ids that need an exact look-up. */
  perhapsKnown(idHashes: readonly string[]): readonly string[] {
    return idHashes.filter((idHash) => this.#filter.mayContain(idHash));
  }
}
