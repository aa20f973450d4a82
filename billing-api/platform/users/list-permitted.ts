import { denialOf } from '../../edge/access/permissions.js';
import type { RequestCaller } from '../../edge/request-context.js';
import { OPERATIONS } from '../../generated/operations.js';

/** An operation, as the document names it. */
export interface PermittedOperationDto {
  /** @example "POST" */
  method: string;
  /** @example "/customers/{id}" */
  path: string;
}

export interface OperationListDto {
  items: PermittedOperationDto[];
}

/** GET /users/me/operations: by the very rule that refuses a request. */
export function listPermitted(caller: RequestCaller): readonly PermittedOperationDto[] {
  return OPERATIONS.filter(
    (operation) => !operation.isPublic && denialOf(caller, operation) === null,
  ).map(({ method, path }) => ({ method, path: path.replace(/^\/v1/, '') }));
}
