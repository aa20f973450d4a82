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

/** How soon it looks again: after something has come, and at most, when nothing has for long. */
export type LookPauses = { readonly leastMs: number; readonly mostMs: number };

/** So often nothing comes before a pause is longer than the one before it. */
const QUIET_LOOKS = 25;
const PAUSE_GROWTH = 1.5;

type Waiter = {
  readonly partition: number;
  readonly offset: number;
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
};

/**
 * Knows the bounds of each partition, and lets any number of readers wait for more records. It runs
 * one statement per pause for all partitions while somebody waits, and none otherwise. Pauses grow
 * while nothing comes, and are short again as soon as something has.
 */
export class EndWatch {
  #latest: AllBounds | null = null;
  #refreshing: Promise<AllBounds> | null = null;
  #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | null = null;
  #quietLooks = 0;
  #pauseMs: number;

  constructor(
    private readonly fetchBounds: () => Promise<AllBounds>,
    private readonly pauses: LookPauses,
  ) {
    this.#pauseMs = pauses.leastMs;
  }

  /** The bounds that were fetched last, which may be out of date. */
  async latest(partition: number): Promise<LogBounds> {
    return boundsOf(this.#latest ?? (await this.#refresh()), partition);
  }

  /**
   * The bounds that a wait may begin with: the latest ones while nothing comes and others wait,
   * since the next look is near and tells; else those at the time of the call.
   */
  async beforeWait(partition: number): Promise<LogBounds> {
    return this.#isQuiet && this.#timer !== null ? this.latest(partition) : this.current(partition);
  }

  /** The bounds at the time of the call or later. */
  async current(partition: number): Promise<LogBounds> {
    return boundsOf(await this.currentOfAll(), partition);
  }

  /** The bounds of all partitions at the time of the call or later. */
  async currentOfAll(): Promise<AllBounds> {
    // A statement that is running already may have read the bounds before this call.
    await this.#refreshing?.catch(() => undefined);
    return this.#refresh();
  }

  /**
   * Resolves when the partition does not end at the offset any more, the time is over or the signal
   * aborts.
   * @throws what `fetchBounds` throws while waiting.
   */
  async waitWhileAt({ partition, offset, waitMs, signal }: EndWait): Promise<void> {
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
        this.#notePause(bounds);
        this.#latest = bounds;
        for (const waiter of this.#waiters) {
          // A log that was cut off ends before it.
          if (boundsOf(bounds, waiter.partition).endOffset !== waiter.offset) waiter.wake();
        }
        return bounds;
      })
      .finally(() => {
        this.#refreshing = null;
      });
    return this.#refreshing;
  }

  get #isQuiet(): boolean {
    return this.#quietLooks > QUIET_LOOKS;
  }

  #notePause(bounds: AllBounds): void {
    const latest = this.#latest;
    const isSame = bounds.every(({ endOffset }, at) => endOffset === latest?.[at]?.endOffset);
    const { leastMs, mostMs } = this.pauses;
    this.#quietLooks = isSame ? this.#quietLooks + 1 : 0;
    this.#pauseMs = this.#isQuiet ? Math.min(mostMs, this.#pauseMs * PAUSE_GROWTH) : leastMs;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#poll();
    }, this.#pauseMs);
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
