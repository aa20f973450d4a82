/**
 * What a request costs in memory besides its body: sockets buffers, headers, closures, an answer.
 */
const REQUEST_OVERHEAD_BYTES = 2048;

/** The share of the budget that one request holds. */
export type BodyLease = {
  /** Takes more; false when the budget is used up, and then nothing was taken. */
  readonly grow: (bytes: number) => boolean;
  /** Gives everything back; later calls do nothing. */
  readonly release: () => void;
  /** Makes `release` wait until the returned function is called: the log has the events so long. */
  readonly hold: () => () => void;
};

/**
 * Bounds the bytes of request bodies in memory at any time, inflated, from their arrival until the
 * log has settled. Without it a few dozen uploads of 32 MiB at once would exhaust the memory; above
 * the bound a request is answered 503.
 */
export class BodyBudget {
  #bytesHeld = 0;

  constructor(private readonly bytesMax: number) {}

  get bytesHeld(): number {
    return this.#bytesHeld;
  }

  /** A lease that holds the fixed cost of a request already; `null` when even that does not fit. */
  lease(): BodyLease | null {
    let held = 0;
    let holds = 0;
    let isReleased = false;
    const grow = (bytes: number): boolean => {
      if (this.#bytesHeld + bytes > this.bytesMax) return false;
      held += bytes;
      this.#bytesHeld += bytes;
      return true;
    };
    const giveBack = (): void => {
      if (!isReleased || holds > 0) return;
      this.#bytesHeld -= held;
      held = 0;
    };
    const release = (): void => {
      isReleased = true;
      giveBack();
    };
    const hold = (): (() => void) => {
      holds += 1;
      return () => {
        holds -= 1;
        giveBack();
      };
    };
    return grow(REQUEST_OVERHEAD_BYTES) ? { grow, release, hold } : null;
  }
}
