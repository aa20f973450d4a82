import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Request } from 'express';
import type { RequestIdentity } from './idempotency-store.js';

// The package's types describe another module format than the one it has.
const canonicalize = createRequire(import.meta.url)('canonicalize') as (
  value: unknown,
) => string | undefined;

/** What a retry must have in common with the first request; the order of members does not count. */
export function requestIdentityOf(request: Request, key: string): RequestIdentity {
  const canonical = canonicalize((request.body as unknown) ?? null) ?? 'null';
  const bodyHash = createHash('sha256').update(canonical).digest('hex');
  return { key, method: request.method, path: request.originalUrl, bodyHash };
}
