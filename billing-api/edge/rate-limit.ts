import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Request, RequestHandler, Response } from 'express';
import { HttpFailure } from './http-failure.js';
import { isHeavy } from './operations.js';
import { contextOf } from './request-context.js';

/** Requests per second and tenant; 0 sets no limit. */
export type RateLimits = {
  /** For operations of the class `heavy`. */
  readonly heavyPerSecond: number;
  /** For all others. */
  readonly defaultPerSecond: number;
};

const WINDOW_SECONDS = 1;

type Policy = {
  readonly name: string;
  readonly quota: number;
  readonly limiter: RateLimiterMemory;
};

function createPolicy(name: string, quota: number): Policy {
  return {
    name,
    quota,
    limiter: new RateLimiterMemory({ points: quota, duration: WINDOW_SECONDS }),
  };
}

function secondsOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

function setHeaders(response: Response, policy: Policy, result: RateLimiterRes): void {
  const remaining = Math.max(0, result.remainingPoints);
  response.set('RateLimit-Policy', `"${policy.name}";q=${policy.quota};w=${WINDOW_SECONDS}`);
  response.set('RateLimit', `"${policy.name}";r=${remaining};t=${secondsOf(result.msBeforeNext)}`);
}

/** Counts a request; returns a failure if the quota is used up. Sets the headers in both cases. */
async function consume(
  policy: Policy,
  key: string,
  response: Response,
): Promise<HttpFailure | null> {
  try {
    setHeaders(response, policy, await policy.limiter.consume(key));
    return null;
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    setHeaders(response, policy, rejection);
    const message = `this tenant may send ${policy.quota} ${policy.name} requests per second; wait and try again`;
    const retryAfterSeconds = secondsOf(rejection.msBeforeNext);
    return new HttpFailure(429, 'too_many_requests', { message, retryAfterSeconds });
  }
}

/**
 * Counts requests per tenant in this process (docs/http.md 1.10); mounted behind `authenticate`.
 * Requests that no operation is declared for count as `default`.
 */
export function createRateLimit(limits: RateLimits): RequestHandler {
  const heavy = createPolicy('heavy', limits.heavyPerSecond);
  const others = createPolicy('default', limits.defaultPerSecond);
  const policyOf = (request: Request): Policy => (isHeavy(request) ? heavy : others);
  return async (request, response, next) => {
    const policy = policyOf(request);
    const { caller } = contextOf(request);
    const isLimited = caller !== null && policy.quota > 0;
    const failure = isLimited ? await consume(policy, caller.environment.tenantId, response) : null;
    if (failure !== null) throw failure;
    next();
  };
}
