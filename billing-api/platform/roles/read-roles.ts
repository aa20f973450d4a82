import { notFound, type Refusal } from '../../records/refusal.js';
import { ROLES, type RoleId } from '../../../contract/roles.js';
import { permissionsOf } from './roles.js';

/** Something that can be done: to read or to write one kind of record. */
export interface PermissionDto {
  /** @example "invoice" */
  entity: string;
  access: 'read' | 'write';
}

export interface RoleDto {
  id: RoleId;
  description: string;
  permissions: PermissionDto[];
}

export interface RolesDto {
  items: RoleDto[];
}

/** GET /rbac/roles. */
export function listRoles(): readonly RoleDto[] {
  return ROLES.map(({ id, description }) => ({
    id,
    description,
    permissions: permissionsOf(id).map(({ entity, access }) => ({ entity: entity ?? '', access })),
  }));
}

/** GET /rbac/roles/{id}. */
export function readRole(id: string): RoleDto | Refusal {
  return listRoles().find((role) => role.id === id) ?? notFound('role', id);
}
