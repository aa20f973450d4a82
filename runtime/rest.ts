/** Pauses of what looks again and again: while something happens, and at rest. */
export type RestPauses = { readonly busyMs: number; readonly restMs: number };

/** So long after the last stir the pauses are those of rest. */
const BUSY_FOR_MS = 3_000;

/**
 * The pauses between the looks of a loop that has nothing to do for most of the time. They are
 * short while something happens and long at rest; what happens in a long one cuts it short, so that
 * the next look comes as soon as if there had been no rest.
 */
export class Rest {
  #stirredAtMs = performance.now();
  /** Shortens the pause that is under way; null when there is nothing to shorten. */
  #cut: (() => void) | null = null;

  constructor(private readonly pauses: RestPauses) {}

  /** Something happens. It costs next to nothing, so that every request may say so. */
  stir(): void {
    this.#stirredAtMs = performance.now();
    this.#cut?.();
  }

  /** Resolves when the next look is due, or the signal aborts. It keeps no process alive. */
  async pause(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { busyMs, restMs } = this.pauses;
    const isBusy = performance.now() - this.#stirredAtMs < BUSY_FOR_MS;
    const pauseMs = isBusy ? busyMs : restMs;
    const endsAtMs = performance.now() + pauseMs;
    let timer: NodeJS.Timeout | undefined;
    let end: () => void = () => undefined;
    await new Promise<void>((resolve) => {
      end = resolve;
      timer = setTimeout(resolve, pauseMs).unref();
      signal.addEventListener('abort', end, { once: true });
      this.#cut = () => {
        this.#cut = null;
        if (endsAtMs - performance.now() <= busyMs) return;
        clearTimeout(timer);
        timer = setTimeout(resolve, busyMs).unref();
      };
    });
    this.#cut = null;
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
