import type { Request, RequestHandler, Response } from 'express';
import {
  FAILED_TOO_OFTEN,
  type FailedAuthentication,
} from '../../../runtime/http/failed-authentication.js';
import type { ApiKeyDirectory } from '../../../sql/api-keys.js';
import type { UserCallers } from '../../../sql/user-callers.js';
import { HttpFailure } from '../http-failure.js';
import { operationIfDeclared } from '../operations.js';
import { contextOf, type RequestCaller } from '../request-context.js';
import type { Sessions } from './sessions.js';
import type { ReadToken, Tokens } from './tokens.js';

/**
 * What a request shows: an API key, a token that we signed, or nothing that counts. The session of
 * the console permits what a token of its user does.
 */
type Credentials =
  | { readonly kind: 'key'; readonly apiKey: string }
  | { readonly kind: 'token'; readonly claims: ReadToken }
  | { readonly kind: 'none'; readonly failure: HttpFailure };

function unauthenticated(message: string): HttpFailure {
  return new HttpFailure(401, 'permission_denied', { message });
}

function forbidden(message: string): HttpFailure {
  return new HttpFailure(403, 'permission_denied', { message });
}

/** What changes nothing needs no page of ours: a foreign one cannot read the answer. */
function isReading({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The session of a browser. Its cookie goes with each request, so a write must say its origin. */
async function credentialsOfSession(request: Request, sessions: Sessions): Promise<Credentials> {
  if (!sessions.isShown(request)) {
    const failure = unauthenticated('send an API key in x-api-key, or a token in Authorization');
    return { kind: 'none', failure };
  }
  if (!isReading(request) && !sessions.isFromOwnPage(request)) {
    const failure = forbidden('a session of the console writes from pages of the console only');
    return { kind: 'none', failure };
  }
  const claims = await sessions.read(request);
  if (claims !== null) return { kind: 'token', claims };
  return { kind: 'none', failure: unauthenticated('the session has ended: sign in again') };
}

/** With a key and a token, the key decides; a cookie counts without both (docs/http.md 1.2). */
async function credentialsOf(
  request: Request,
  { tokens, sessions }: Pick<AuthenticationDependencies, 'tokens' | 'sessions'>,
): Promise<Credentials> {
  const apiKey = request.get('x-api-key') ?? '';
  if (apiKey !== '') return { kind: 'key', apiKey };
  const authorization = request.get('authorization');
  if (authorization === undefined) return credentialsOfSession(request, sessions);
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  const claims = token === undefined ? null : await tokens.read(token);
  if (claims !== null) return { kind: 'token', claims };
  const message = 'the token is not valid, or it has expired: sign in again';
  return { kind: 'none', failure: unauthenticated(message) };
}

/** Operations about the tenant as a whole, which need no environment (docs/http.md 1.3). */
const OF_THE_TENANT = /^\/v1\/(users|tenants|environments|rbac)(\/|$)/;

type AuthenticationDependencies = {
  readonly apiKeys: ApiKeyDirectory;
  readonly users: UserCallers;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly failedAuthentication: FailedAuthentication;
};

/** The caller of a key; null when it is unknown, expired or revoked. */
async function callerOfKey(apiKeys: ApiKeyDirectory, apiKey: string) {
  const known = await apiKeys.find(apiKey);
  if (known === null) return null;
  const { secretId, keyType, ...caller } = known;
  return {
    ...caller,
    apiKeyId: secretId,
    queuesAs: secretId,
    isPublishable: keyType === 'publishable_key',
    hasChosenEnvironment: true,
  };
}

/** The environment that a request names; the claim comes before the header. */
function wantedEnvironmentOf(request: Request, { environmentId }: ReadToken): string | null {
  const header = request.get('x-environment-id') ?? '';
  return environmentId ?? (header === '' ? null : header);
}

/**
 * The caller of a token; null for a user who was deleted, or has another password since. Where the
 * operation needs no environment and none is named, the tenant's first one stands in, and the audit
 * trail of the change is there.
 * @throws HttpFailure for an environment that is needed and missing, or not the tenant's.
 */
async function callerOfToken(
  request: Request,
  users: UserCallers,
  claims: ReadToken,
): Promise<RequestCaller | null> {
  const { userId, tenantId, issuedAtMs } = claims;
  const wanted = wantedEnvironmentOf(request, claims);
  const named = { tenantId, userId, issuedAtMs };
  const user = await users.find({ ...named, environmentId: wanted });
  if (user === null) return null;
  if (wanted !== null && user.environment === null) {
    throw forbidden(`environment ${wanted.slice(0, 300)} is not one of your tenant`);
  }
  const operation = operationIfDeclared(request);
  if (wanted === null && operation !== null && !OF_THE_TENANT.test(operation.path)) {
    const message = 'X-Environment-ID: name the environment that the request is for';
    throw new HttpFailure(400, 'validation_error', { message });
  }
  return {
    environment: user.environment ?? user.firstEnvironment,
    userId,
    roles: user.roles,
    isTenantSuspended: user.isTenantSuspended,
    apiKeyId: null,
    queuesAs: userId,
    isPublishable: false,
    hasChosenEnvironment: wanted !== null,
  };
}

/**
 * Finds the caller; mounted at `/v1` before all other checks, so that 401 comes first. From an
 * address that failed too often only keys that were right before are looked up, and tokens of ours.
 * An operation that needs no credentials counts as a failed attempt, since it can be used to guess;
 * one whose body is signed only when the signature is wrong.
 */
export function createAuthenticate(dependencies: AuthenticationDependencies): RequestHandler {
  const { apiKeys, users, failedAuthentication: failed } = dependencies;

  const isServed = (credentials: Credentials): boolean =>
    credentials.kind === 'token' ||
    (credentials.kind === 'key' && apiKeys.wasFound(credentials.apiKey));

  const find = async (request: Request, credentials: Credentials) => {
    switch (credentials.kind) {
      case 'key':
        return (
          (await callerOfKey(apiKeys, credentials.apiKey)) ??
          unauthenticated('the API key is unknown, expired or revoked')
        );
      case 'token':
        return (
          (await callerOfToken(request, users, credentials.claims)) ??
          unauthenticated(
            'the user of the token was deleted, or has another password: sign in again',
          )
        );
      case 'none':
        return credentials.failure;
    }
  };

  /** Counts a request without credentials; one that is signed only when its signature is wrong. */
  const noteUnknown = (request: Request, response: Response): void => {
    if (operationIfDeclared(request)?.isSigned !== true) {
      failed.note(request);
      return;
    }
    response.once('finish', () => {
      if (response.statusCode === 403) failed.note(request);
    });
  };

  return async (request, response, next) => {
    const isPublic = operationIfDeclared(request)?.isPublic === true;
    const credentials = isPublic ? null : await credentialsOf(request, dependencies);
    if (failed.isExceeded(request) && (credentials === null || !isServed(credentials))) {
      throw new HttpFailure(429, 'too_many_requests', FAILED_TOO_OFTEN);
    }
    if (credentials === null) {
      noteUnknown(request, response);
      next();
      return;
    }
    const caller = await find(request, credentials);
    if (caller instanceof HttpFailure) {
      failed.note(request);
      throw caller;
    }
    contextOf(request).caller = caller;
    next();
  };
}
