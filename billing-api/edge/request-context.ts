import type { Request } from 'express';
import { assertPresent } from '../../runtime/failure.js';
import type { ApiCaller } from '../../sql/api-keys.js';
import type { Caller, IdempotencyClaim } from '../records/caller.js';
import type { OperationMatch } from './operation-table.js';

/** What the edge finds out about a request before a controller sees it. */
type RequestContext = {
  requestId: string;
  match: OperationMatch;
  apiCaller: ApiCaller | null;
  claim: IdempotencyClaim | null;
};

const contexts = new WeakMap<Request, RequestContext>();

/** The context of a request; made at its first use. */
export function contextOf(request: Request): RequestContext {
  const known = contexts.get(request);
  if (known !== undefined) return known;
  const context: RequestContext = {
    requestId: '',
    match: { kind: 'unknown' },
    apiCaller: null,
    claim: null,
  };
  contexts.set(request, context);
  return context;
}

/** Who the key belongs to. Only behind `authenticate`. */
export function apiCallerOf(request: Request): ApiCaller {
  return assertPresent(contextOf(request).apiCaller, 'the caller of the request');
}

/** On whose behalf the request's operation runs. Only behind `authenticate`. */
export function callerOf(request: Request): Caller {
  const { environment, userId } = apiCallerOf(request);
  return { environment, userId, claim: contextOf(request).claim };
}
