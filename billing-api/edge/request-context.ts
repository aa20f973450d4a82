import type { Request } from 'express';
import { assertPresent } from '../../runtime/failure.js';
import type { Environment } from '../../contract/environment.js';
import type { Actor, IdempotencyClaim, Occasion, RequestActor } from '../records/occasion.js';
import type { OperationMatch } from './operation-table.js';

/** Whom the credentials of a request belong to. */
export type RequestCaller = {
  readonly environment: Environment;
  readonly userId: string;
  readonly roles: readonly string[];
  /** A suspended tenant may read and not write (docs/http.md 1.2). */
  readonly isTenantSuspended: boolean;
  /** Null when the caller came with a token. */
  readonly apiKeyId: string | null;
  /** The line of its tenant in which a heavy request waits: a key, or the user of a token. */
  readonly queuesAs: string;
  /** A publishable key can only send events. */
  readonly isPublishable: boolean;
  /** False for a token without one: `environment` then only holds the audit trail. */
  readonly hasChosenEnvironment: boolean;
};

/** What the edge finds out about a request before a controller sees it. */
type RequestContext = {
  /** When the request was first looked at, as `performance.now()` counts. */
  readonly receivedMs: number;
  requestId: string;
  match: OperationMatch;
  /** Null for an operation that needs no credentials. */
  caller: RequestCaller | null;
  claim: IdempotencyClaim | null;
  /** The body as it came, of an operation whose body is signed; empty for all others. */
  signedBytes: Buffer;
};

const contexts = new WeakMap<Request, RequestContext>();

/** The context of a request; made at its first use. */
export function contextOf(request: Request): RequestContext {
  const known = contexts.get(request);
  if (known !== undefined) return known;
  const context: RequestContext = {
    receivedMs: performance.now(),
    requestId: '',
    match: { kind: 'unknown' },
    caller: null,
    claim: null,
    signedBytes: Buffer.alloc(0),
  };
  contexts.set(request, context);
  return context;
}

/** Who calls. Only behind `authenticate`, and not in an operation that needs no credentials. */
export function requestCallerOf(request: Request): RequestCaller {
  return assertPresent(contextOf(request).caller, 'the caller of the request');
}

/** The environment that the request names by its key, claim or header; null when it names none. */
export function chosenEnvironmentOf(request: Request): string | null {
  const { environment, hasChosenEnvironment } = requestCallerOf(request);
  return hasChosenEnvironment ? environment.environmentId : null;
}

/**
 * Whose share of what is shared out a request takes. Whoever signs up or in has one share with all
 * others who do.
 */
export function tenantOf(request: Request): string {
  return contextOf(request).caller?.environment.tenantId ?? '';
}

/** Where and on whose behalf the request's operation runs. Only behind `authenticate`. */
export function occasionOf(request: Request): Occasion<RequestActor> {
  const { environment, userId, apiKeyId } = requestCallerOf(request);
  const { requestId, claim } = contextOf(request);
  return { environment, actor: { kind: 'request', userId, apiKeyId, requestId, claim } };
}

/** An occasion whose roles decide what may be handed out. */
export type OccasionWithRoles<By extends Actor = RequestActor> = Occasion<By> & {
  readonly roles: readonly string[];
};

/** As `occasionOf`, for operations that hand out roles or keys. */
export function occasionWithRolesOf(request: Request): OccasionWithRoles {
  return { ...occasionOf(request), roles: requestCallerOf(request).roles };
}
