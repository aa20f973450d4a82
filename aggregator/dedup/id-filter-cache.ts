import { LRUCache } from 'lru-cache';
import PQueue from 'p-queue';
import { createKnownIds } from './known-ids.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { LogIdentity } from '../../event-log/interface/event-log.js';
import { IdFilter, type IdFilterSettings } from './id-filter.js';
import { PreviousLogIds, type LimitReads, type PreviousLogSettings } from './previous-log-ids.js';

/** A read keeps one of our cores and one of ClickHouse's busy; a second one fills its pauses. */
const READS_MAX = 2;
/** Memory for kept filters: 30 million ids at the default rate. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** Share of new ids that are looked up in vain, unless the operator sets another. */
export const FALSE_POSITIVE_RATE_DEFAULT = 0.01;

type CacheOptions = Pick<PreviousLogSettings, 'falsePositiveRate' | 'previousLogs'> & {
  readonly clickhouse: ClickHouse;
  readonly identity: LogIdentity;
};

/**
 * The id filters of one process. The filter of a partition that was given up is kept while memory
 * allows, so that a partition which comes back needs only the ids that were written meanwhile. When
 * memory runs out, the filter that was given back first is dropped.
 */
export class IdFilterCache {
  readonly previousLogIds: PreviousLogIds;
  readonly #settings: IdFilterSettings;
  readonly #kept = new LRUCache<number, IdFilter>({ maxSize: KEPT_BYTES_MAX, sizeCalculation });

  constructor({ clickhouse, identity, falsePositiveRate, previousLogs }: CacheOptions) {
    const { logId: log, partitionCount } = identity;
    const ids = createKnownIds(clickhouse, log);
    const queue = new PQueue({ concurrency: READS_MAX });
    const limit: LimitReads = async (work, signal) => {
      try {
        return await queue.add(work, { signal });
      } catch (error) {
        if (signal.aborted) return null;
        throw error;
      }
    };
    const present = { log, partitionCount };
    const shared = { falsePositiveRate, ids, limit };
    const keptBytesMax = KEPT_BYTES_MAX;
    this.previousLogIds = new PreviousLogIds({ ...shared, present, previousLogs, keptBytesMax });
    this.#settings = { ...shared, previousLogIds: this.previousLogIds };
  }

  /** The kept filter of the partition or a new one; either must be warmed before use. */
  take(partition: number): IdFilter {
    const kept = this.#kept.get(partition);
    this.#kept.delete(partition);
    return kept ?? new IdFilter(partition, this.#settings);
  }

  /** Keeps the filter of a partition that was given up, if there is room for it. */
  keep(partition: number, filter: IdFilter): void {
    this.#kept.set(partition, filter);
    this.previousLogIds.release(partition);
  }
}

function sizeCalculation(filter: IdFilter): number {
  return Math.max(1, filter.bytes);
}
