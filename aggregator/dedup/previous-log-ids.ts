import { LRUCache } from 'lru-cache';
import { BloomFilter } from './bloom-filter.js';
import type { IdList, KnownIds } from './known-ids.js';
import { previousShardsOf, type PreviousLog, type PreviousShard } from './previous-logs.js';
import { readIds } from './read-ids.js';

/** Runs the work when a place for reading is free; null when the signal aborts first. */
export type LimitReads = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T | null>;

export type PreviousLogSettings = {
  readonly falsePositiveRate: number;
  readonly ids: Pick<KnownIds, 'ofPreviousLog'>;
  readonly limit: LimitReads;
  readonly present: { readonly log: string; readonly partitionCount: number };
  /** The logs that were read before the present one. @throws DependencyError. */
  readonly previousLogs: () => Promise<readonly PreviousLog[]>;
  /** Memory for filters of partitions that were given up. */
  readonly keptBytesMax: number;
};

type Loading = { readonly ended: Promise<void>; readonly stop: AbortController; waiting: number };

/** Resolves when the work ends or the signal aborts, and leaves no listener behind. */
function endOrAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      resolve();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
    if (signal.aborted) resolve();
  });
}

/**
 * A filter of some ids of earlier logs, for all partitions of the process that need the same ones.
 * Nobody writes to an earlier log while this one is fed, and ids are never removed; so the ids are
 * unchanged as long as their number is.
 */
class ShardFilter {
  #filter: BloomFilter;
  #count = 0;
  #loading: Loading | null = null;
  /** Partitions that need it. */
  readonly users = new Set<number>();

  constructor(
    private readonly list: IdList,
    private readonly settings: PreviousLogSettings,
  ) {
    this.#filter = this.#createFilter(0);
  }

  get size(): number {
    return this.#filter.size;
  }

  get bytes(): number {
    return this.#filter.bytes;
  }

  mayContain(ids: Buffer, at: number): boolean {
    return this.#count > 0 && this.#filter.mayContain(ids, at);
  }

  /** Whether it holds all ids; false when the signal ended it before. @throws DependencyError. */
  async complete(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const count = await this.list.count();
      if (count === this.#count) return true;
      await this.#wait(this.#loading ?? this.#load(count), signal);
    }
    return false;
  }

  /** The load ends early when the last partition that waits for it is given up. */
  async #wait(loading: Loading, signal: AbortSignal): Promise<void> {
    loading.waiting += 1;
    try {
      await endOrAbort(loading.ended, signal);
    } finally {
      loading.waiting -= 1;
      if (loading.waiting === 0) loading.stop.abort();
    }
  }

  #load(count: number): Loading {
    const stop = new AbortController();
    const ended = this.#read(count, stop.signal).finally(() => {
      this.#loading = null;
    });
    // Whoever waits hears of a failure; when nobody waits any more, nobody needs to.
    ended.catch(() => undefined);
    const loading = { ended, stop, waiting: 0 };
    this.#loading = loading;
    return loading;
  }

  async #read(count: number, signal: AbortSignal): Promise<void> {
    const filter = this.#createFilter(count);
    const use = (ids: Buffer): void => {
      filter.add(ids);
    };
    const work = () => readIds(this.list, { expected: count, signal, use });
    if ((await this.settings.limit(work, signal)) !== true) return;
    this.#filter = filter;
    this.#count = count;
  }

  #createFilter(expectedIds: number): BloomFilter {
    const { falsePositiveRate } = this.settings;
    return new BloomFilter({ falsePositiveRate, expectedIds });
  }
}

/**
 * Ids that were counted on earlier logs. An event with one of them is a duplicate, as with an id of
 * this log (D-009). A process holds those that can come in its own partitions (previous-logs.ts).
 */
export class PreviousLogIds {
  readonly #shards = new Map<string, ShardFilter>();
  readonly #ofPartition = new Map<number, readonly ShardFilter[]>();
  readonly #kept;
  #logs: readonly PreviousLog[] | null = null;

  constructor(private readonly settings: PreviousLogSettings) {
    this.#kept = new LRUCache<string, ShardFilter>({
      maxSize: settings.keptBytesMax,
      sizeCalculation: ({ bytes }) => Math.max(1, bytes),
    });
  }

  /** Number of ids that the partitions of this process need. */
  get size(): number {
    return [...this.#shards.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Whether the filters hold all ids of earlier logs that can come in the partition; false when the
   * signal ended it before. @throws DependencyError.
   */
  async refresh(partition: number, signal: AbortSignal): Promise<boolean> {
    // A log that is not among them is read as a whole, so one reading of this list is enough.
    this.#logs ??= await this.settings.previousLogs();
    const shards = previousShardsOf(partition, this.settings.present, this.#logs);
    const filters = shards.map((shard) => this.#filterOf(shard));
    this.#ofPartition.set(partition, filters);
    for (const filter of filters) {
      filter.users.add(partition);
      if (!(await filter.complete(signal))) return false;
    }
    return true;
  }

  mayContain(partition: number, ids: Buffer, at: number): boolean {
    const filters = this.#ofPartition.get(partition) ?? [];
    return filters.some((filter) => filter.mayContain(ids, at));
  }

  /** The partition was given up: filters that no other needs are kept while memory allows. */
  release(partition: number): void {
    this.#ofPartition.delete(partition);
    for (const [key, filter] of this.#shards) {
      filter.users.delete(partition);
      if (filter.users.size > 0) continue;
      this.#shards.delete(key);
      this.#kept.set(key, filter);
    }
  }

  #filterOf(shard: PreviousShard): ShardFilter {
    const key = JSON.stringify(shard);
    const filter =
      this.#shards.get(key) ??
      this.#kept.get(key) ??
      new ShardFilter(this.settings.ids.ofPreviousLog(shard), this.settings);
    this.#kept.delete(key);
    this.#shards.set(key, filter);
    return filter;
  }
}
