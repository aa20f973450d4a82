import type { Request, RequestHandler } from 'express';
import type { ApiCaller, ApiKeyDirectory } from './api-keys.js';
import { HttpFailure } from './failure.js';
import { accessOf, entityOf, isPermitted } from './permissions.js';
import { contextOf } from './request-context.js';

/**
 * The API key, which decides also when there is a bearer token (api.md 1.2). An API key sent as a
 * bearer token is none: the event routes take it for none as well.
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

function denied(message: string): HttpFailure {
  return new HttpFailure(403, 'permission_denied', { message });
}

/** Why a known caller may not do what the request asks for; null when it may. */
function denialOf(caller: ApiCaller, request: Request): HttpFailure | null {
  if (caller.keyType === 'publishable_key') {
    return denied('a publishable key can only send events');
  }
  const access = accessOf(request.method, request.path);
  if (caller.isTenantSuspended && access === 'write') return denied('the tenant is suspended');
  const entity = entityOf(request.path);
  if (isPermitted(caller.roles, { entity, access })) return null;
  return denied(`the key's roles do not allow to ${access} ${entity}`);
}

/** Finds out who calls and whether they may; mounted at `/v1`, before anything is read. */
export function createAuthenticate(apiKeys: ApiKeyDirectory): RequestHandler {
  return async (request, _response, next) => {
    const caller = await apiKeys.find(apiKeyOf(request));
    if (caller === null) throw unauthenticated('the API key is unknown, expired or revoked');
    contextOf(request).apiCaller = caller;
    const denial = denialOf(caller, request);
    if (denial !== null) throw denial;
    next();
  };
}
