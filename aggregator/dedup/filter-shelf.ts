import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { createKnownIds } from '../sink/known-ids.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { IdFilter, type FilterSurroundings } from './id-filter.js';
import { OtherLogIds } from './other-log-ids.js';

/** Reading ids keeps a core of ours and one of ClickHouse's busy; two overlap their pauses. */
const READINGS_MAX = 2;
/** Memory for kept filters: 30 million ids at the default rate. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** Share of new ids that are looked up in vain, unless the operator says otherwise. */
export const FALSE_POSITIVE_RATE_DEFAULT = 0.01;

type ShelfOptions = {
  readonly clickhouse: ClickHouse;
  readonly logId: string;
  readonly falsePositiveRate: number;
};

/**
 * The filters of one process: it hands them out to the owner of a partition and keeps what comes
 * back within a bound of memory, so that a partition that returns soon needs only the ids that came
 * meanwhile. The least recently returned goes first.
 */
export class FilterShelf {
  readonly others: OtherLogIds;
  readonly #surroundings: FilterSurroundings;
  readonly #kept = new LRUCache<number, IdFilter>({ maxSize: KEPT_BYTES_MAX, sizeCalculation });

  constructor({ clickhouse, logId, falsePositiveRate }: ShelfOptions) {
    const ids = createKnownIds(clickhouse, logId);
    const queue = new PQueue({ concurrency: READINGS_MAX });
    this.others = new OtherLogIds(ids, falsePositiveRate);
    this.#surroundings = {
      falsePositiveRate,
      ids,
      others: this.others,
      limit: async (work, signal) => {
        try {
          return await queue.add(work, { signal });
        } catch (error) {
          if (signal.aborted) return null;
          throw error;
        }
      },
    };
  }

  /** The partition's kept filter, which must be warmed before use, or a new one. */
  take(partition: number): IdFilter {
    const kept = this.#kept.get(partition);
    this.#kept.delete(partition);
    return kept ?? new IdFilter(partition, this.#surroundings);
  }

  /** Keeps a filter whose partition was given up, if there is room for it. */
  keep(partition: number, filter: IdFilter): void {
    this.#kept.set(partition, filter);
  }
}

function sizeCalculation(filter: IdFilter): number {
  return Math.max(1, filter.bytes);
}
