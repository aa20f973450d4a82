import type { Request, RequestHandler } from 'express';
import type { ApiKeyDirectory } from '../../sql/api-keys.js';
import { HttpFailure } from './http-failure.js';
import { contextOf } from './request-context.js';

/**
 * The API key of a request. It counts even when there is a bearer token too (docs/http.md 1.2). An
 * API key that is sent as a bearer token is refused, as on the event routes.
 */
function apiKeyOf(request: Request): string {
  const apiKey = request.get('x-api-key') ?? '';
  if (apiKey !== '') return apiKey;
  if (request.get('authorization') === undefined) {
    throw unauthenticated('the header x-api-key is missing');
  }
  throw unauthenticated('bearer tokens are not accepted here: send an API key in x-api-key');
}

function unauthenticated(message: string): HttpFailure {
  return new HttpFailure(401, 'permission_denied', { message });
}

/** Finds the caller; mounted at `/v1` before all other checks, so that 401 comes first. */
export function createAuthenticate(apiKeys: ApiKeyDirectory): RequestHandler {
  return async (request, _response, next) => {
    const caller = await apiKeys.find(apiKeyOf(request));
    if (caller === null) throw unauthenticated('the API key is unknown, expired or revoked');
    contextOf(request).apiCaller = caller;
    next();
  };
}
