/** How fast a body must arrive, so that a client that stalls cannot keep memory. */
export type StallLimits = {
  /** Within this time … */
  readonly windowMs: number;
  /** … so many further bytes must arrive, or the end of the body. */
  readonly bytesMin: number;
};

/** 13 kbit/s. A body of less than 8 KiB has 5 s to arrive. */
export const STALL_LIMITS: StallLimits = { windowMs: 5_000, bytesMin: 8 * 1024 };

/** One timer for all bodies, because one for each body costs more than reading a small one. */
const SWEEPS_PER_WINDOW = 5;

type Watched = { bytes: number; sweeps: number; readonly onStall: () => void };

/** One body under watch. */
export type Progress = { readonly note: (bytes: number) => void; readonly end: () => void };

/** Tells which bodies stall. A body is found out up to a fifth of a window late, never early. */
export class StallWatch {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly limits: StallLimits = STALL_LIMITS) {}

  /** Watches a body until `end`, or until `onStall` has been called. */
  watch(onStall: () => void): Progress {
    const body: Watched = { bytes: 0, sweeps: 0, onStall };
    this.#watched.add(body);
    this.#timer ??= setInterval(() => this.#sweep(), this.limits.windowMs / SWEEPS_PER_WINDOW);
    return {
      note: (bytes) => {
        body.bytes += bytes;
      },
      end: () => this.#watched.delete(body),
    };
  }

  #sweep(): void {
    if (this.#watched.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    const late = [...this.#watched].filter((body) => this.#isLate(body));
    if (late.length === 0) return;
    // After a pause of this process, what has arrived meanwhile is read before this runs.
    setImmediate(() => {
      for (const body of late) this.#cutUnlessArrived(body);
    });
  }

  #isLate(body: Watched): boolean {
    if (body.bytes >= this.limits.bytesMin) {
      body.bytes = 0;
      body.sweeps = 0;
    }
    body.sweeps += 1;
    return body.sweeps > SWEEPS_PER_WINDOW;
  }

  #cutUnlessArrived(body: Watched): void {
    if (body.bytes >= this.limits.bytesMin || !this.#watched.delete(body)) return;
    body.onStall();
  }
}
