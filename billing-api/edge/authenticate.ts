import type { Request, RequestHandler } from 'express';
import {
  FAILED_TOO_OFTEN,
  type FailedAuthentication,
} from '../../runtime/http/failed-authentication.js';
import type { ApiKeyDirectory } from '../../sql/api-keys.js';
import { HttpFailure } from './http-failure.js';
import { contextOf } from './request-context.js';

/**
 * The API key of a request, or why there is none. It counts even when there is a bearer token too
 * (docs/http.md 1.2). An API key that is sent as a bearer token is refused, as on the event routes.
 */
function apiKeyOf(request: Request): string | HttpFailure {
  const apiKey = request.get('x-api-key') ?? '';
  if (apiKey !== '') return apiKey;
  if (request.get('authorization') === undefined) {
    return unauthenticated('the header x-api-key is missing');
  }
  return unauthenticated('bearer tokens are not accepted here: send an API key in x-api-key');
}

function unauthenticated(message: string): HttpFailure {
  return new HttpFailure(401, 'permission_denied', { message });
}

/**
 * Finds the caller; mounted at `/v1` before all other checks, so that 401 comes first. From an
 * address that failed too often only keys that were right before are looked up.
 */
export function createAuthenticate(
  apiKeys: ApiKeyDirectory,
  failed: FailedAuthentication,
): RequestHandler {
  return async (request, _response, next) => {
    const apiKey = apiKeyOf(request);
    if (failed.isExceeded(request)) {
      const wasRight = typeof apiKey === 'string' && apiKeys.wasFound(apiKey);
      if (!wasRight) throw new HttpFailure(429, 'too_many_requests', FAILED_TOO_OFTEN);
    }
    const caller = typeof apiKey === 'string' ? await apiKeys.find(apiKey) : null;
    if (caller === null) {
      failed.note(request);
      throw typeof apiKey === 'string'
        ? unauthenticated('the API key is unknown, expired or revoked')
        : apiKey;
    }
    contextOf(request).apiCaller = caller;
    next();
  };
}
