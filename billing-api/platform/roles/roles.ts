import {
  roleAllows,
  ROLES,
  type Permission,
  type RoleId,
  type UserType,
} from '../../../contract/roles.js';
import { OPERATIONS } from '../../generated/operations.js';
import { invalid, Refusal } from '../../records/refusal.js';

/** Every entity of the operation table with what can be done to it, each once, in order. */
const PERMISSIONS: readonly Permission[] = [
  ...new Map(
    OPERATIONS.filter(({ isPublic, entity }) => !isPublic && entity !== 'self').map(
      ({ entity, access }) => [`${entity ?? ''} ${access}`, { entity, access }] as const,
    ),
  ),
]
  .sort(([left], [right]) => (left < right ? -1 : 1))
  .map(([, permission]) => permission);

export function permissionsOf(role: RoleId): readonly Permission[] {
  return PERMISSIONS.filter((permission) => roleAllows(role, permission));
}

/** Whether these roles permit all that the others do: nobody hands out more than they have. */
export function coverRoles(own: readonly string[], others: readonly string[]): boolean {
  const needed = PERMISSIONS.filter((each) => others.some((role) => roleAllows(role, each)));
  return needed.every((permission) => own.some((role) => roleAllows(role, permission)));
}

export const ABOVE_OWN = new Refusal(
  'permission_denied',
  'these roles permit more than your own: ask a super_admin',
);

/** What is wrong with the roles of a user; null for a good choice. The list has no double. */
export function rolesRefusal(type: UserType, roles: readonly RoleId[]): Refusal | null {
  const wrong = ROLES.find(({ id, isFor }) => roles.includes(id) && !isFor.includes(type));
  if (wrong !== undefined) {
    const [kind] = wrong.isFor;
    const owner = kind === 'user' ? 'users' : 'service accounts';
    return invalid({ roles: `${wrong.id} is a role of ${owner} only` });
  }
  if (roles.includes('super_admin') && roles.length > 1) {
    return invalid({ roles: 'super_admin permits everything: it stands alone' });
  }
  if (type === 'service_account' && roles.length === 0) {
    return invalid({ roles: 'a service account needs at least one role' });
  }
  return null;
}
