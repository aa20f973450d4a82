/**
 * The work was not begun. `full`: too much of the same key waits already. `waited`: its turn did
 * not come in time.
 */
export class NotBegun extends Error {
  constructor(
    readonly reason: 'full' | 'waited',
    readonly retryAfterSeconds: number,
  ) {
    super(`not begun: ${reason}`);
    this.name = 'NotBegun';
  }
}

export type FairQueueLimits = {
  /** Pieces of work that run at once, over all keys. */
  readonly runningMax: number;
  /** Of one key. */
  readonly runningPerKeyMax: number;
  /** Of work whose key is empty; as of any other key when absent. */
  readonly runningWithoutKeyMax?: number;
  /** Pieces of work of one key that wait; what comes beyond is refused at once. */
  readonly waitingPerKeyMax: number;
  /** What has waited longer is refused. */
  readonly waitMsMax: number;
};

type Waiting = { readonly start: () => void };

/**
 * Runs work in bounded numbers, key by key in turn: work of one key waits for at most one piece of
 * each other key before each of its own, however much the others have waiting. Within a key the
 * order is that of arrival.
 */
export class FairQueue {
  #running = 0;
  readonly #runningOf = new Map<string, number>();
  /** Keys with waiting work; the one whose turn is next stands first. */
  readonly #waitingOf = new Map<string, Waiting[]>();

  constructor(private readonly limits: FairQueueLimits) {}

  /** Whether nothing runs and nothing waits. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#waitingOf.size === 0;
  }

  /**
   * Runs `work` when it is its turn.
   * @param signal ends the wait; work that runs must heed it by itself.
   * @throws NotBegun when the work was not begun; the reason of the signal; what `work` throws.
   */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#hasRoom(key)) this.#begin(key);
    else await this.#wait(key, signal);
    try {
      return await work();
    } finally {
      this.#end(key);
    }
  }

  #hasRoom(key: string): boolean {
    const { runningMax, runningPerKeyMax, runningWithoutKeyMax = runningPerKeyMax } = this.limits;
    const ownMax = key === '' ? runningWithoutKeyMax : runningPerKeyMax;
    return this.#running < runningMax && (this.#runningOf.get(key) ?? 0) < ownMax;
  }

  #begin(key: string): void {
    this.#running += 1;
    this.#runningOf.set(key, (this.#runningOf.get(key) ?? 0) + 1);
  }

  #end(key: string): void {
    this.#running -= 1;
    const left = (this.#runningOf.get(key) ?? 0) - 1;
    if (left === 0) this.#runningOf.delete(key);
    else this.#runningOf.set(key, left);
    this.#startNext();
  }

  #startNext(): void {
    for (const [key, waiting] of this.#waitingOf) {
      if (!this.#hasRoom(key)) continue;
      const next = waiting.shift();
      // The key goes to the end of the turns.
      this.#waitingOf.delete(key);
      if (waiting.length > 0) this.#waitingOf.set(key, waiting);
      next?.start();
      return;
    }
  }

  /** Resolves when the work has been given a place. */
  #wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    const { waitingPerKeyMax, waitMsMax } = this.limits;
    const waiting = this.#waitingOf.get(key) ?? [];
    const seconds = Math.ceil(waitMsMax / 1000);
    if (waiting.length >= waitingPerKeyMax) return Promise.reject(new NotBegun('full', seconds));
    this.#waitingOf.set(key, waiting);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      const own: Waiting = {
        start: () => {
          settle();
          this.#begin(key);
          resolve();
        },
      };
      const giveUp = (reason: Error): void => {
        settle();
        this.#remove(key, own);
        reject(reason);
      };
      const leave = (): void => giveUp(toError(signal?.reason));
      const timer = setTimeout(() => giveUp(new NotBegun('waited', seconds)), waitMsMax);
      signal?.addEventListener('abort', leave, { once: true });
      waiting.push(own);
    });
  }

  #remove(key: string, own: Waiting): void {
    const waiting = this.#waitingOf.get(key) ?? [];
    const left = waiting.filter((other) => other !== own);
    if (left.length === 0) this.#waitingOf.delete(key);
    else this.#waitingOf.set(key, left);
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
