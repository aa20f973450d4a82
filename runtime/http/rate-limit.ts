/** What is left of a quota after a request was counted. */
export type RateState = {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
};

/** Counts requests by key in windows of one second, in the memory of this process only. */
export type RateLimit = {
  /** Counts a request; null without a limit. */
  readonly take: (key: string) => RateState | null;
  /**
   * The headers `RateLimit-Policy` and, when the caller is known, `RateLimit` (docs/http.md 1.10),
   * as names and values in turn. None without a limit.
   */
  readonly headers: (state: RateState | null) => readonly string[];
};

const WINDOW_SECONDS = 1;

const UNLIMITED: RateLimit = { take: () => null, headers: () => [] };

/**
 * Counts without a promise or a timer for each request, as the limiter of the billing API has them:
 * a single event takes some sixty microseconds here, and most events come as singles.
 * @param requestsPerSecond 0 sets no limit. @param now milliseconds of a clock that never jumps.
 */
export function createRateLimit(
  name: string,
  requestsPerSecond: number,
  now: () => number = () => performance.now(),
): RateLimit {
  if (requestsPerSecond === 0) return UNLIMITED;
  const policy = ['RateLimit-Policy', `"${name}";q=${requestsPerSecond};w=${WINDOW_SECONDS}`];
  /** Requests of the window that runs, all keys in one window, so that none stays in memory. */
  const taken = new Map<string, number>();
  let endsAtMs = 0;
  return {
    take: (key) => {
      const nowMs = now();
      if (nowMs >= endsAtMs) {
        taken.clear();
        endsAtMs = nowMs + WINDOW_SECONDS * 1000;
      }
      const count = (taken.get(key) ?? 0) + 1;
      taken.set(key, count);
      return {
        isAllowed: count <= requestsPerSecond,
        remaining: Math.max(0, requestsPerSecond - count),
        resetSeconds: WINDOW_SECONDS,
      };
    },
    headers: (state) =>
      state === null
        ? policy
        : [...policy, 'RateLimit', `"${name}";r=${state.remaining};t=${state.resetSeconds}`],
  };
}
