import { DependencyError } from '../../runtime/failure.js';
import type { KnownIds, OffsetRange } from '../sink/known-ids.js';
import { BloomFilter, ID_BYTES } from './bloom-filter.js';
import type { OtherLogIds } from './other-log-ids.js';
import { readIds } from './read-ids.js';

/** What the filters of one process have in common. */
export type FilterSurroundings = {
  readonly falsePositiveRate: number;
  readonly ids: Pick<KnownIds, 'ofPartition'>;
  readonly others: OtherLogIds;
  /** Lets so many read at once and no more; null when the signal came first. */
  readonly limit: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T | null>;
};

/** How a filter became complete: from all ids, from those that came since, or it was already. */
export type Warming = 'rebuilt' | 'caught_up' | 'kept';

/** After a failed attempt to rebuild a filter that has outgrown its rate, so much growth first. */
const RETRY_GROWTH = 1.1;

/**
 * Ids that may have been counted in one partition. It only spares look-ups: what it calls perhaps
 * known is asked of the table, and what it does not know was never stored.
 *
 * Why a filter may be kept while others own the partition: at any time it holds all ids stored at
 * offsets below `completeBelow`. That holds when it is built, since `warm` runs after the drain and
 * reads below the checkpoint's `next_offset`: batches below it are finished, no insert of theirs is
 * under way or can start, so the rows below it never change again, whoever owns the partition. It
 * goes on holding with every finished batch, whose ids are told by `remember` together with its
 * end. Others who own the partition meanwhile write at offsets at and above `completeBelow`, since
 * a batch starts at `next_offset`, which never goes back. So after the next drain exactly the ids
 * in `[completeBelow, next_offset)` are missing, and reading them makes it complete again. Ids of
 * a promised batch at and above `next_offset` are not needed: a replay looks up below its own
 * start, and its ids are remembered when it is finished.
 */
export class IdFilter {
  #filter: BloomFilter | null = null;
  /** Being built with more room while `#filter` serves; gets whatever that gets. */
  #next: BloomFilter | null = null;
  #completeBelow = 0;
  #retryAtSize = 0;

  constructor(
    private readonly partition: number,
    private readonly surroundings: FilterSurroundings,
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
   * Knows all ids stored below the offset, which is the checkpoint's `next_offset` after the drain.
   * Null when the signal ended it early.
   * @throws DependencyError.
   */
  async warm(below: number, signal: AbortSignal): Promise<Warming | null> {
    await this.surroundings.others.refresh();
    const filter = this.#filter;
    const isUsable = filter !== null && !filter.isOvergrown && below >= this.#completeBelow;
    if (isUsable && below === this.#completeBelow) return 'kept';
    const work = isUsable ? () => this.#catchUp(below, signal) : () => this.#rebuild(below, signal);
    return this.surroundings.limit(work, signal);
  }

  /** Adds the ids of a batch that is finished and ends before the offset `end`. */
  remember(idHashes: readonly string[], end: number, signal: AbortSignal): void {
    this.#add(bytesOf(idHashes));
    this.#completeBelow = end;
    if (this.#filter?.isOvergrown === true && this.size >= this.#retryAtSize) {
      this.#retryAtSize = this.size * RETRY_GROWTH;
      void this.#regrow(signal);
    }
  }

  /** The ids that need an exact look-up. */
  perhapsKnown(idHashes: readonly string[]): readonly string[] {
    const ids = bytesOf(idHashes);
    const { others } = this.surroundings;
    return idHashes.filter((_, index) => {
      const at = index * ID_BYTES;
      return (this.#filter?.mayContain(ids, at) ?? true) || others.mayContain(ids, at);
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
    // What is being built with more room, if anything, is not told what is read here.
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
   * Replaces a filter that has outgrown its rate by a roomier one, while it goes on serving. What
   * is stored below `completeBelow` never changes; what is added meanwhile goes to both.
   */
  async #regrow(signal: AbortSignal): Promise<void> {
    if (this.#next !== null) return;
    const next = this.#createFilter(this.size);
    this.#next = next;
    const range = { from: 0, below: this.#completeBelow };
    try {
      const work = (): Promise<boolean> => this.#read(range, signal, () => next);
      const isRead = await this.surroundings.limit(work, signal);
      // Replaced meanwhile when the partition was taken anew.
      if (isRead === true && this.#next === next) this.#filter = next;
    } catch (error) {
      // The one that serves is complete, only less sharp; a bug must not pass for an outage.
      if (!signal.aborted && !(error instanceof DependencyError)) throw error;
    } finally {
      if (this.#next === next) this.#next = null;
    }
  }

  /** Reads the ids of a range into what the caller makes for their number. */
  async #read(
    range: OffsetRange,
    signal: AbortSignal,
    into: (count: number) => { add(ids: Buffer): void },
  ): Promise<boolean> {
    const list = this.surroundings.ids.ofPartition(this.partition, range);
    const expected = await list.count();
    const target = into(expected);
    const use = (ids: Buffer): void => {
      target.add(ids);
    };
    return readIds(list, { expected, signal, use });
  }

  #createFilter(expectedIds: number): BloomFilter {
    const { falsePositiveRate } = this.surroundings;
    return new BloomFilter({ falsePositiveRate, expectedIds });
  }
}

/** The ids one after the other, 16 bytes each. */
function bytesOf(idHashes: readonly string[]): Buffer {
  return Buffer.from(idHashes.join(''), 'hex');
}
