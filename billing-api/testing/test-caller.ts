import type { Caller } from '../records/caller.js';

/** Somebody who calls an operation directly, without a request. */
export function testCaller({
  environment,
  userId,
}: Pick<Caller, 'environment' | 'userId'>): Caller {
  return { environment, userId, apiKeyId: null, requestId: 'request_1', claim: null };
}
