import type { DecodedRecord } from '../fold/candidate.js';
import type { CatalogReader } from '../gather/catalog.js';
import type { ReadAhead } from '../gather/read-ahead.js';
import type { Catalog, Command } from '../protocol/state.js';
import { Flush, type WriteTogether } from './flush.js';

type Fetch = Extract<Command, { readonly kind: 'fetch' }>;

/** The records of a partition. */
type Ahead = Pick<ReadAhead, 'seek' | 'take' | 'refresh' | 'isReady' | 'isFull'>;

/** A partition that is ready for its next batch. */
type Waiting = {
  readonly partition: number;
  readonly ahead: Ahead;
  readonly catalogVersionMin: number;
  readonly resolve: (next: NextBatch | null) => void;
  readonly reject: (error: unknown) => void;
};

/** What the next batch of a partition is made of, and with which others it is written. */
export type NextBatch = {
  readonly records: readonly DecodedRecord[];
  readonly catalog: Catalog;
  readonly flush: Flush;
};

type Taken = { readonly waiting: Waiting; readonly records: readonly DecodedRecord[] };

function eventsOf(taken: readonly Taken[]): number {
  let events = 0;
  for (const { records } of taken) for (const record of records) events += record.candidates.length;
  return events;
}

type Begun = { readonly flush: Flush; readonly events: number };

export type FlusherSources = {
  readonly catalog: Pick<CatalogReader, 'latest'>;
  readonly flushDelayMs: number;
  readonly writeTogether: WriteTogether;
};

/** A flush of at least so many events shows that more come than a quiet machine has to count. */
const MANY_EVENTS = 1_000;
/**
 * Where many events come and the machine is busy, flushes take long. Then they become fewer and
 * larger, since an insert costs about the same whatever it holds: from the beginning of one to that
 * of the next there are at least so many times what it took …
 */
const TIMES_TAKEN = 3;
/** … beyond this part of the flush delay, … */
const EASY_PART = 1 / 4;
/** … but at most so many flush delays. */
const FLUSH_DELAYS_MAX = 4;

/**
 * Decides when the partitions of a process write their batches: all that have records, together, at
 * the flush delay after the flush before, or later when that one took long. So few inserts serve
 * many partitions, and no record waits that has waited while others were written. A partition
 * without room for more does not wait.
 */
export class Flusher {
  readonly #waiting = new Map<number, Waiting>();
  /** When the next flush may begin. */
  #nextMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly sources: FlusherSources) {}

  /** Waits for records; null when the signal has aborted, or when the wait is cancelled. */
  async next(
    { partition, ahead }: Pick<Waiting, 'partition' | 'ahead'>,
    { from, catalogVersionMin }: Fetch,
    signal: AbortSignal,
  ): Promise<NextBatch | null> {
    await ahead.seek(from);
    if (signal.aborted) return null;
    return new Promise((resolve, reject) => {
      this.#waiting.set(partition, { partition, ahead, catalogVersionMin, resolve, reject });
      this.reconsider();
    });
  }

  /** Ends the wait of a partition that is given up. */
  cancel(partition: number): void {
    this.#waiting.get(partition)?.resolve(null);
    this.#waiting.delete(partition);
  }

  /** Plans the next flush anew, since a partition has something to write, or no more room. */
  reconsider(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const ready = [...this.#waiting.values()].filter(({ ahead }) => ahead.isReady);
    if (this.#isBusy || ready.length === 0) return;
    const isUrgent = ready.some(({ ahead }) => ahead.isFull);
    const dueMs = isUrgent ? 0 : this.#nextMs - performance.now();
    this.#timer = setTimeout(() => void this.#flush(), Math.max(0, dueMs));
  }

  async #flush(): Promise<void> {
    this.#timer = null;
    this.#isBusy = true;
    const beganMs = performance.now();
    const ready = [...this.#waiting.values()].filter(({ ahead }) => ahead.isReady);
    await Promise.all(ready.map(({ ahead }) => ahead.refresh()));
    const begun = await this.#begin(ready.filter((waiting) => this.#isStillWaiting(waiting)));
    await begun?.flush.ended;
    const tookMs = performance.now() - beganMs;
    this.#nextMs = beganMs + this.#pauseAfter(tookMs, begun?.events ?? 0);
    this.#isBusy = false;
    this.reconsider();
  }

  /** How long after the beginning of one flush the next may begin, when the one took so long. */
  #pauseAfter(tookMs: number, events: number): number {
    const { flushDelayMs } = this.sources;
    if (events < MANY_EVENTS) return flushDelayMs;
    const longMs = tookMs - EASY_PART * flushDelayMs;
    const pauseMs = Math.max(flushDelayMs, TIMES_TAKEN * longMs);
    return Math.min(pauseMs, FLUSH_DELAYS_MAX * flushDelayMs);
  }

  #isStillWaiting(waiting: Waiting): boolean {
    return this.#waiting.get(waiting.partition) === waiting;
  }

  /**
   * The catalog is read after the records, so that every event is matched with a catalog that is no
   * older than its arrival.
   */
  async #begin(ready: readonly Waiting[]): Promise<Begun | null> {
    const taken = ready.flatMap((waiting) => this.#take(waiting));
    if (taken.length === 0) return null;
    try {
      const versionMin = Math.max(...taken.map(({ waiting }) => waiting.catalogVersionMin));
      const catalog = await this.sources.catalog.latest(versionMin);
      const partitions = taken.map(({ waiting }) => waiting.partition);
      const flush = new Flush(partitions, this.sources.writeTogether);
      for (const { waiting, records } of taken) waiting.resolve({ records, catalog, flush });
      return { flush, events: eventsOf(taken) };
    } catch (error) {
      for (const { waiting } of taken) waiting.reject(error);
      return null;
    }
  }

  /** The records of a partition, which waits no more; none when they could not be read. */
  #take(waiting: Waiting): readonly Taken[] {
    this.#waiting.delete(waiting.partition);
    try {
      return [{ waiting, records: waiting.ahead.take() }];
    } catch (error) {
      waiting.reject(error);
      return [];
    }
  }
}
