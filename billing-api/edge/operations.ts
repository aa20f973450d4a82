import type { Request, RequestHandler } from 'express';
import { HttpFailure } from './http-failure.js';
import type { Operation, OperationTable } from './operation-table.js';
import { contextOf } from './request-context.js';

/** Notes which operation a request is; refuses nothing yet, so that 401 comes first. */
export function createOperationFinder(table: OperationTable): RequestHandler {
  return (request, _response, next) => {
    contextOf(request).match = table.find(request.method, request.path);
    next();
  };
}

/** The operation of a request; null when none is declared for its method and path. */
export function operationIfDeclared(request: Request): Operation | null {
  const { match } = contextOf(request);
  return match.kind === 'declared' ? match.operation : null;
}

/** Whether a request counts as heavy: by its operation, or by a query parameter that it sends. */
export function isHeavy(request: Request): boolean {
  const operation = operationIfDeclared(request);
  if (operation === null) return false;
  const { rate, heavyWith } = operation;
  return rate === 'heavy' || heavyWith.some((name) => name in request.query);
}

/**
 * Lets declared operations pass: 404 for an unknown path, 405 for another method of a known one
 * (docs/http.md 1.5). Below `/v1` it stands behind `authenticate`: paths are public, but a caller
 * without credentials gets 401 for every path alike.
 */
export const requireOperation: RequestHandler = (request, _response, next) => {
  const { match } = contextOf(request);
  switch (match.kind) {
    case 'declared':
      next();
      return;
    case 'other-method': {
      const allow = match.allowed.join(', ');
      const message = `${request.method} is not possible here: send ${allow}`;
      throw new HttpFailure(405, 'invalid_operation', { message, headers: { Allow: allow } });
    }
    case 'unknown': {
      const message = `there is no path ${request.path}`.slice(0, 300);
      throw new HttpFailure(404, 'not_found', { message });
    }
  }
};

/** Refuses query parameters that the operation does not take: nothing that is sent is ignored. */
export const refuseUnknownQuery: RequestHandler = (request, _response, next) => {
  const { queryNames = [] } = operationIfDeclared(request) ?? {};
  const unknown = Object.keys(request.query).find((name) => !queryNames.includes(name));
  if (unknown === undefined) {
    next();
    return;
  }
  const name = unknown.slice(0, 100);
  const taken = queryNames.length === 0 ? 'none' : queryNames.join(', ');
  const problem = `is not a query parameter of this request, which takes ${taken}`;
  const message = `${name} ${problem}`.slice(0, 500);
  throw new HttpFailure(400, 'validation_error', { message, details: { [name]: problem } });
};

/** Answers 404 to the event routes: they get here only without ingest in front of this program. */
export const refuseElsewhere: RequestHandler = (request) => {
  const message = `${request.method} ${request.path} is served by another program`.slice(0, 300);
  throw new HttpFailure(404, 'not_found', { message });
};
