import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Request } from 'express';
import { requestCallerOf } from '../request-context.js';
import type { RequestIdentity } from './idempotency-store.js';

// The package's types describe another module format than the one it has.
const canonicalize = createRequire(import.meta.url)('canonicalize') as (
  value: unknown,
) => string | undefined;

/**
 * What a retry must have in common with the first request; the order of members does not count. The
 * user belongs to it, so that nobody gets the answer of somebody else; the API key does not, so
 * that a retry after its rotation is still a retry.
 */
export function requestIdentityOf(request: Request, key: string): RequestIdentity {
  const { userId } = requestCallerOf(request);
  const canonical = canonicalize([userId, (request.body as unknown) ?? null]) ?? 'null';
  const hash = createHash('sha256').update(canonical).digest('hex');
  return { key, method: request.method, path: request.originalUrl, hash };
}
