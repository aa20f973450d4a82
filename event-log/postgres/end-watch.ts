import type { LogBounds } from '../interface/event-log.js';

/** The bounds of every partition, by its number. */
export type AllBounds = readonly LogBounds[];

/** A wait for records from the offset on. */
export type EndWait = {
  readonly partition: number;
  readonly offset: number;
  readonly waitMs: number;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
};

type Waiter = {
  readonly partition: number;
  readonly offset: number;
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
};

/**
 * Knows the bounds of each partition, and lets any number of readers wait for more records. It runs
 * one statement per interval for all partitions while somebody waits, and none otherwise.
 */
export class EndWatch {
  #latest: AllBounds | null = null;
  #refreshing: Promise<AllBounds> | null = null;
  #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly fetchBounds: () => Promise<AllBounds>,
    private readonly pollMs: number,
  ) {}

  /** The bounds that were fetched last, which may be out of date. */
  async latest(partition: number): Promise<LogBounds> {
    return boundsOf(this.#latest ?? (await this.#refresh()), partition);
  }

  /** The bounds at the time of the call or later. */
  async current(partition: number): Promise<LogBounds> {
    // A statement that is running already may have read the bounds before this call.
    await this.#refreshing?.catch(() => undefined);
    return boundsOf(await this.#refresh(), partition);
  }

  /**
   * Resolves when the partition reaches beyond the offset, the time is over or the signal aborts.
   * @throws what `fetchBounds` throws while waiting.
   */
  async waitBeyond({ partition, offset, waitMs, signal }: EndWait): Promise<void> {
    if (signal?.aborted === true) return;
    let timer: NodeJS.Timeout | undefined;
    let waiter: Waiter | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        waiter = { partition, offset, wake: resolve, fail: reject };
        this.#waiters.add(waiter);
        timer = setTimeout(resolve, waitMs);
        signal?.addEventListener('abort', waiter.wake, { once: true });
        this.#schedule();
      });
    } finally {
      clearTimeout(timer);
      if (waiter !== undefined) {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', waiter.wake);
      }
    }
  }

  /** Ends all waits, as if their time were over. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const waiter of this.#waiters) waiter.wake();
    this.#waiters.clear();
  }

  #refresh(): Promise<AllBounds> {
    this.#refreshing ??= this.fetchBounds()
      .then((bounds) => {
        this.#latest = bounds;
        for (const waiter of this.#waiters) {
          if (boundsOf(bounds, waiter.partition).endOffset > waiter.offset) waiter.wake();
        }
        return bounds;
      })
      .finally(() => {
        this.#refreshing = null;
      });
    return this.#refreshing;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#poll();
    }, this.pollMs);
  }

  async #poll(): Promise<void> {
    if (this.#waiters.size === 0) return;
    try {
      await this.#refresh();
    } catch (error) {
      for (const waiter of this.#waiters) waiter.fail(error);
    }
    if (this.#waiters.size > 0) this.#schedule();
  }
}

function boundsOf(all: AllBounds, partition: number): LogBounds {
  const bounds = all[partition];
  if (bounds === undefined) throw new RangeError(`the log has no partition ${partition}`);
  return bounds;
}
