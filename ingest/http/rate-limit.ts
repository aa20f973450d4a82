import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** What one request has left after it was counted. */
export type RateState = {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
};

/** Counts requests per key in windows of one second, in the memory of this process. */
export type RateLimit = {
  /** The `RateLimit-Policy` header (http.md 1.10); null without a limit. */
  readonly policy: string | null;
  /** Counts a request; null without a limit. */
  readonly take: (key: string) => Promise<RateState | null>;
};

const WINDOW_SECONDS = 1;

function stateOf(result: RateLimiterRes, isAllowed: boolean): RateState {
  const resetSeconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  return { isAllowed, remaining: result.remainingPoints, resetSeconds };
}

/** @param requestsPerSecond 0 sets no limit. */
export function createRateLimit(name: string, requestsPerSecond: number): RateLimit {
  if (requestsPerSecond === 0) return { policy: null, take: () => Promise.resolve(null) };
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: WINDOW_SECONDS });
  return {
    policy: `"${name}";q=${requestsPerSecond};w=${WINDOW_SECONDS}`,
    take: (key) =>
      limiter.consume(key).then(
        (result) => stateOf(result, true),
        (thrown: unknown) => {
          // The library rejects with the result itself when the quota is used up.
          if (thrown instanceof RateLimiterRes) return stateOf(thrown, false);
          throw thrown;
        },
      ),
  };
}

/** The `RateLimit` header (http.md 1.10). */
export function rateLimitHeader(name: string, state: RateState): string {
  return `"${name}";r=${state.remaining};t=${state.resetSeconds}`;
}
