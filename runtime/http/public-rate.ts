import type { IncomingMessage } from 'node:http';
import type { Config } from '../config.js';
import { clientAddressOf } from './failed-authentication.js';
import { createRateLimit } from './rate-limit.js';

/** The name of the quota in headers (docs/http.md 1.10). */
const QUOTA = 'public';

/** What the limit is, and whose address a request is counted for. */
export type PublicLimits = Config<'MINUTEBOOK_PUBLIC_RATE' | 'MINUTEBOOK_PROXY_COUNT'>;

/** What was decided about a request for a page that needs no key. */
export type PublicTurn = {
  readonly isAllowed: boolean;
  /** Names and values in turn; none without a limit. */
  readonly headers: readonly string[];
};

/** Counts requests for one kind of page by client address. */
export type PublicRate = {
  readonly take: (request: IncomingMessage) => PublicTurn;
  /** What a client is told that is not allowed. */
  readonly refusal: { readonly message: string; readonly retryAfterSeconds: number };
};

/**
 * The limit of what a program shows without a key and what is not tiny: the metrics, the OpenAPI
 * document and its reference. A health check is not counted, because a program that answered it
 * with 429 would be taken out of service.
 */
export function createPublicRate(limits: PublicLimits): PublicRate {
  const { MINUTEBOOK_PUBLIC_RATE: quota, MINUTEBOOK_PROXY_COUNT: proxyCount } = limits;
  const limit = createRateLimit(QUOTA, quota);
  return {
    take: (request) => {
      const state = limit.take(clientAddressOf(request, proxyCount));
      return { isAllowed: state?.isAllowed ?? true, headers: limit.headers(state) };
    },
    refusal: {
      message: `this address may ask for ${quota} pages without a key per second; wait and try again`,
      retryAfterSeconds: 1,
    },
  };
}
