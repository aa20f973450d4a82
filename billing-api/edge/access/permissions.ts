import type { RequestHandler } from 'express';
import { roleAllows } from '../../../contract/roles.js';
import { assertPresent } from '../../../runtime/failure.js';
import { HttpFailure } from '../http-failure.js';
import type { Operation } from '../operation-table.js';
import { operationIfDeclared } from '../operations.js';
import { requestCallerOf, type RequestCaller } from '../request-context.js';

/** The entity of operations on the caller's own user, which need no role. */
const SELF = 'self';

function isPermitted(roles: readonly string[], operation: Operation): boolean {
  return operation.entity === SELF || roles.some((role) => roleAllows(role, operation));
}

/** Why a known caller may not do what the operation does; null when it may. */
export function denialOf(caller: RequestCaller, operation: Operation): string | null {
  if (caller.isPublishable) return 'a publishable key can only send events';
  const { access, entity } = operation;
  if (caller.isTenantSuspended && access === 'write') return 'the tenant is suspended';
  if (isPermitted(caller.roles, operation)) return null;
  return `your roles do not permit ${access} on ${entity ?? 'this'}`;
}

/** Refuses with 403 what the caller may not do; mounted behind `requireOperation`. */
export const authorize: RequestHandler = (request, _response, next) => {
  const operation = assertPresent(operationIfDeclared(request), 'the operation of the request');
  const message = operation.isPublic ? null : denialOf(requestCallerOf(request), operation);
  if (message !== null) throw new HttpFailure(403, 'permission_denied', { message });
  next();
};
