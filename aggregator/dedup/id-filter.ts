import { DependencyError } from '../../runtime/failure.js';
import type { KnownIds, OffsetRange } from './known-ids.js';
import { BloomFilter, ID_BYTES } from './bloom-filter.js';
import type { LimitReads, PreviousLogIds } from './previous-log-ids.js';
import { readIds } from './read-ids.js';

/** What all filters of one process share. */
export type IdFilterSettings = {
  readonly falsePositiveRate: number;
  readonly ids: Pick<KnownIds, 'ofPartition'>;
  readonly previousLogIds: PreviousLogIds;
  readonly limit: LimitReads;
};

/** How a filter became complete: it read all ids, or those added since, or it was complete. */
export type Warming = 'rebuilt' | 'caught_up' | 'kept';

/** A failed attempt to enlarge a filter is repeated when it has grown by this factor. */
const RETRY_GROWTH = 1.1;

/**
 * Ids that may have been counted in one partition. The filter only spares look-ups: an id that it
 * may contain is looked up in the table, and an id that it does not contain was never stored.
 *
 * A filter may be kept while another process owns the partition, because at any time it holds all
 * ids stored at offsets below `completeBelow`:
 * - When it is built, `warm` runs after the drain and reads below the checkpoint's `next_offset`.
 *   Batches below that are finished, and no insert of theirs is running or can start, so the rows
 *   below it never change again, whoever owns the partition.
 * - With each finished batch, `remember` adds its ids and moves `completeBelow` to its end.
 * - Another owner writes at offsets from `completeBelow` on, since a batch starts at `next_offset`,
 *   which never goes back. So after the next drain exactly the ids in
 *   `[completeBelow, next_offset)` are missing, and reading them completes the filter.
 *
 * Ids of an unfinished intent, at `next_offset` and above, are not needed: recovery looks ids up
 * below the start of its batch and remembers those of the batch when it is finished.
 */
export class IdFilter {
  #filter: BloomFilter | null = null;
  /** A larger filter that is being built while `#filter` serves; new ids are added to both. */
  #next: BloomFilter | null = null;
  #completeBelow = 0;
  #retryAtSize = 0;

  constructor(
    private readonly partition: number,
    private readonly settings: IdFilterSettings,
  ) {}

  /** Number of ids of this partition. */
  get size(): number {
    return this.#filter?.size ?? 0;
  }

  /** Memory of the filter. */
  get bytes(): number {
    return (this.#filter?.bytes ?? 0) + (this.#next?.bytes ?? 0);
  }

  /**
   * Resolves when the filter holds all ids stored below the offset, which is the checkpoint's
   * `next_offset` after the drain; to null when the signal ended it early.
   * @throws DependencyError.
   */
  async warm(below: number, signal: AbortSignal): Promise<Warming | null> {
    if (!(await this.settings.previousLogIds.refresh(this.partition, signal))) return null;
    const filter = this.#filter;
    const isUsable = filter !== null && !filter.isOvergrown && below >= this.#completeBelow;
    if (isUsable && below === this.#completeBelow) return 'kept';
    const work = isUsable ? () => this.#catchUp(below, signal) : () => this.#rebuild(below, signal);
    return this.settings.limit(work, signal);
  }

  /** Adds the ids of a batch that is finished and ends before the offset `end`. */
  remember(idHashes: readonly string[], end: number, signal: AbortSignal): void {
    this.#add(bytesOf(idHashes));
    this.#completeBelow = end;
    if (this.#filter?.isOvergrown === true && this.size >= this.#retryAtSize) {
      this.#retryAtSize = this.size * RETRY_GROWTH;
      void this.#enlarge(signal);
    }
  }

  /** The ids that need an exact look-up. */
  perhapsKnown(idHashes: readonly string[]): readonly string[] {
    const ids = bytesOf(idHashes);
    const { previousLogIds } = this.settings;
    return idHashes.filter((_, index) => {
      const at = index * ID_BYTES;
      if (this.#filter?.mayContain(ids, at) ?? true) return true;
      return previousLogIds.mayContain(this.partition, ids, at);
    });
  }

  #add(ids: Buffer): void {
    this.#filter?.add(ids);
    this.#next?.add(ids);
  }

  async #catchUp(below: number, signal: AbortSignal): Promise<Warming | null> {
    const add = (ids: Buffer): void => {
      this.#add(ids);
    };
    const range = { from: this.#completeBelow, below };
    if (!(await this.#read(range, signal, () => ({ add })))) return null;
    this.#completeBelow = below;
    return 'caught_up';
  }

  async #rebuild(below: number, signal: AbortSignal): Promise<Warming | null> {
    // A larger filter under construction would miss the ids that are read here.
    this.#next = null;
    this.#filter = null;
    let filter: BloomFilter | null = null;
    const isRead = await this.#read({ from: 0, below }, signal, (count) => {
      filter = this.#createFilter(count);
      return filter;
    });
    if (!isRead) return null;
    this.#filter = filter;
    this.#completeBelow = below;
    this.#retryAtSize = 0;
    return 'rebuilt';
  }

  /**
   * Replaces a filter that holds too many ids for its rate by a larger one, while it goes on
   * serving. The ids below `completeBelow` never change; those added meanwhile go to both.
   */
  async #enlarge(signal: AbortSignal): Promise<void> {
    if (this.#next !== null) return;
    const next = this.#createFilter(this.size);
    this.#next = next;
    const range = { from: 0, below: this.#completeBelow };
    try {
      const work = (): Promise<boolean> => this.#read(range, signal, () => next);
      const isRead = await this.settings.limit(work, signal);
      // `#next` is another one when the partition was taken again meanwhile.
      if (isRead === true && this.#next === next) this.#filter = next;
    } catch (error) {
      // After an outage the old filter serves on: it is complete, only with a higher rate of
      // false positives. Any other error is a bug.
      if (!signal.aborted && !(error instanceof DependencyError)) throw error;
    } finally {
      if (this.#next === next) this.#next = null;
    }
  }

  /** Reads the ids of a range into the target that the caller creates for their number. */
  async #read(
    range: OffsetRange,
    signal: AbortSignal,
    into: (count: number) => { add(ids: Buffer): void },
  ): Promise<boolean> {
    const list = this.settings.ids.ofPartition(this.partition, range);
    const expected = await list.count();
    const target = into(expected);
    const use = (ids: Buffer): void => {
      target.add(ids);
    };
    return readIds(list, { expected, signal, use });
  }

  #createFilter(expectedIds: number): BloomFilter {
    const { falsePositiveRate } = this.settings;
    return new BloomFilter({ falsePositiveRate, expectedIds });
  }
}

/** The ids as bytes, 16 for each. */
function bytesOf(idHashes: readonly string[]): Buffer {
  return Buffer.from(idHashes.join(''), 'hex');
}
