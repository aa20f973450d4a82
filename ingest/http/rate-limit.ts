import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** What is left of a quota after a request was counted. */
export type RateState = {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
};

/** Counts requests by key in windows of one second, in the memory of this process only. */
export type RateLimit = {
  /** Counts a request; null without a limit. */
  readonly take: (key: string) => Promise<RateState> | null;
  /**
   * The headers `RateLimit-Policy` and, when the caller is known, `RateLimit` (docs/http.md 1.10),
   * as names and values in turn. None without a limit.
   */
  readonly headers: (state: RateState | null) => readonly string[];
};

const WINDOW_SECONDS = 1;

function stateOf(result: RateLimiterRes, isAllowed: boolean): RateState {
  const resetSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  return { isAllowed, remaining: result.remainingPoints, resetSeconds };
}

const UNLIMITED: RateLimit = { take: () => null, headers: () => [] };

/** @param requestsPerSecond 0 sets no limit. */
export function createRateLimit(name: string, requestsPerSecond: number): RateLimit {
  if (requestsPerSecond === 0) return UNLIMITED;
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: WINDOW_SECONDS });
  const policy = ['RateLimit-Policy', `"${name}";q=${requestsPerSecond};w=${WINDOW_SECONDS}`];
  return {
    take: (key) =>
      limiter.consume(key).then(
        (result) => stateOf(result, true),
        (thrown: unknown) => {
          // When the quota is used up, the library rejects with the result.
          if (thrown instanceof RateLimiterRes) return stateOf(thrown, false);
          throw thrown;
        },
      ),
    headers: (state) =>
      state === null
        ? policy
        : [...policy, 'RateLimit', `"${name}";r=${state.remaining};t=${state.resetSeconds}`],
  };
}
