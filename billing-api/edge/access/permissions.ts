import type { RequestHandler } from 'express';
import { assertPresent } from '../../../runtime/failure.js';
import { HttpFailure } from '../http-failure.js';
import type { Operation } from '../operation-table.js';
import { operationIfDeclared } from '../operations.js';
import { requestCallerOf, type RequestCaller } from '../request-context.js';

/** What an operation needs of a role (docs/http.md 1.11). */
export type Permission = Pick<Operation, 'entity' | 'access'>;

/** The entity of operations on the caller's own user, which need no role. */
const SELF = 'self';

/** What only a super_admin writes. */
const RESERVED: ReadonlySet<string | null> = new Set(['setting', 'user_role']);

/** Whether a role allows an operation; an unknown role allows nothing. */
export function roleAllows(role: string, { entity, access }: Permission): boolean {
  switch (role) {
    case 'super_admin':
      return true;
    case 'all_writer':
      return access === 'read' || !RESERVED.has(entity);
    case 'all_reader':
      return access === 'read';
    case 'event_ingestor':
      return entity === 'event' && access === 'write';
    case 'event_reader':
      return entity === 'event' && access === 'read';
    default:
      return false;
  }
}

function isPermitted(roles: readonly string[], operation: Operation): boolean {
  return operation.entity === SELF || roles.some((role) => roleAllows(role, operation));
}

/** Why a known caller may not do what the operation does; null when it may. */
function denialOf(caller: RequestCaller, operation: Operation): string | null {
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
