/** The memory of a request besides its body: socket buffers, headers, closures, its answer. */
const REQUEST_OVERHEAD_BYTES = 2048;

/** The share of the budget that one request holds. */
export type BodyLease = {
  /** Takes more bytes; false, and takes nothing, when they exceed the budget. */
  readonly grow: (bytes: number) => boolean;
  /** Returns all bytes to the budget; later calls do nothing. */
  readonly release: () => void;
  /**
   * Delays `release` until the returned function is called, because the log still holds the
   * events in memory.
   */
  readonly hold: () => () => void;
};

/**
 * Bounds the inflated bytes of all request bodies in memory, from their arrival until the log has
 * acknowledged or refused their events. Without the bound a few dozen simultaneous uploads of
 * 32 MiB would exhaust the memory. A request above the bound is answered 503.
 */
export class BodyBudget {
  #bytesHeld = 0;

  constructor(private readonly bytesMax: number) {}

  get bytesHeld(): number {
    return this.#bytesHeld;
  }

  /** A lease that holds the fixed memory of a request; `null` when it exceeds the budget. */
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
