/** The memory of a request besides its body: socket buffers, headers, closures, its answer. */
export const REQUEST_OVERHEAD_BYTES = 2048;

/** A body up to this size, with its overhead, is small: larger ones never take its memory. */
export const SMALL_BODY_BYTES_MAX = 64 * 1024;

/** The memory that one request holds. */
export type BodyLease = {
  /** Takes more bytes; false, and takes nothing, when there is no room for them. */
  readonly grow: (bytes: number) => boolean;
  /** Returns all bytes to the budget; later calls do nothing. */
  readonly release: () => void;
  /**
   * Delays `release` until the returned function is called, because the log still holds the
   * events in memory.
   */
  readonly hold: () => () => void;
};

/** Bytes that are shared out among tenants: each may hold a share of what it leaves free. */
class SharedBytes {
  #held = 0;
  readonly #byTenant = new Map<string, number>();

  constructor(
    private readonly bytesMax: number,
    private readonly share: number,
  ) {}

  get held(): number {
    return this.#held;
  }

  take(tenant: string, bytes: number): boolean {
    const own = (this.#byTenant.get(tenant) ?? 0) + bytes;
    if (own > this.share * (this.bytesMax - this.#held - bytes)) return false;
    this.#byTenant.set(tenant, own);
    this.#held += bytes;
    return true;
  }

  giveBack(tenant: string, bytes: number): void {
    const left = (this.#byTenant.get(tenant) ?? 0) - bytes;
    if (left > 0) this.#byTenant.set(tenant, left);
    else this.#byTenant.delete(tenant);
    this.#held -= bytes;
  }
}

export type BodyBudgetLimits = {
  /** The largest body: there is room for one of this size from each of two tenants. */
  readonly bodyBytesMax: number;
  /** Memory for small bodies only. */
  readonly smallBytesMax: number;
};

/** The second of two largest bodies must leave as much free as it takes. */
const BODIES_IN_FLIGHT = 3;
const LARGE_SHARE = 1;
/** Smaller, so that after many tenants that take all they can the next one has room. */
const SMALL_SHARE = 1 / 4;

/**
 * Bounds the inflated bytes of all request bodies in memory, from their arrival until their answer.
 * Without the bound a few dozen simultaneous uploads would exhaust the memory.
 *
 * A tenant never holds more of it than it leaves free: alone half, the next one half of what is
 * left then, and so on. So no tenant can take everything, and there is always room for one that
 * holds nothing yet. Small bodies have memory of their own, of which a tenant holds at most a
 * quarter of what it leaves free; beyond that they take of the other. A request without room
 * is answered 503.
 */
export class BodyBudget {
  readonly #small: SharedBytes;
  readonly #large: SharedBytes;

  constructor({ bodyBytesMax, smallBytesMax }: BodyBudgetLimits) {
    this.#small = new SharedBytes(smallBytesMax, SMALL_SHARE);
    this.#large = new SharedBytes(
      BODIES_IN_FLIGHT * (bodyBytesMax + REQUEST_OVERHEAD_BYTES),
      LARGE_SHARE,
    );
  }

  get bytesHeld(): number {
    return this.#small.held + this.#large.held;
  }

  /** A lease with the fixed memory of a request; `null` when there is no room for it. */
  lease(tenant: string): BodyLease | null {
    let pool = this.#small;
    let held = 0;
    let holds = 0;
    let isReleased = false;
    const grow = (bytes: number): boolean => {
      const wanted = held + bytes;
      if (pool === this.#small) {
        const isSmall = wanted <= SMALL_BODY_BYTES_MAX + REQUEST_OVERHEAD_BYTES;
        if (!isSmall || !pool.take(tenant, bytes)) {
          if (!this.#large.take(tenant, wanted)) return false;
          pool.giveBack(tenant, held);
          pool = this.#large;
        }
      } else if (!pool.take(tenant, bytes)) return false;
      held = wanted;
      return true;
    };
    const giveBack = (): void => {
      if (!isReleased || holds > 0) return;
      pool.giveBack(tenant, held);
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
