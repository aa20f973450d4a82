import type { OccasionWithRoles } from '../../edge/request-context.js';
import { changeRecord, removeRecord, updateRecord } from '../../records/change-record.js';
import { isEqual } from '../../records/conditions.js';
import { findPublished, findRecord } from '../../records/find-record.js';
import { accept, isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { KEYS } from '../../declarations/platform/key.resource.js';
import { ABOVE_OWN, coverRoles, rolesRefusal } from '../roles/roles.js';
import { lockOwnTenant } from '../tenants/tenants-store.js';
import { withTenant, type UserWithTenant } from './user-operations.js';
import {
  USERS,
  type ChangeUserRolesBody,
  type UserRow,
} from '../../declarations/platform/user.resource.js';
import { hasOtherAdministrator, revokeOtherKeys } from './users-store.js';

/** What changes the rights of a user needs. */
export type RightsDependencies = WriteDependencies & { readonly forgetCallers: () => void };

/** Without a super_admin nobody could hand out roles again. Under the lock of the tenant. */
async function refuseLastAdministrator(unit: Unit, row: UserRow): Promise<void> {
  if (!row.roles.includes('super_admin') || (await hasOtherAdministrator(unit, row.id))) {
    return;
  }
  const message = 'this is the last super_admin of the tenant: make another one first';
  throw new Refused(new Refusal('invalid_operation', message));
}

/** PUT /users/{id}/roles. It counts from the next request of the user's keys and tokens on. */
export async function changeUserRoles(
  dependencies: RightsDependencies,
  occasion: OccasionWithRoles,
  { id, body }: { readonly id: string; readonly body: ChangeUserRolesBody },
): Promise<UserWithTenant | Refusal> {
  const roles = [...new Set(body.roles)];
  const changed = await writeUnit(dependencies, occasion, async (unit) => {
    await lockOwnTenant(unit);
    const change = async (row: UserRow) => {
      accept(rolesRefusal(row.type, roles));
      if (!roles.includes('super_admin')) await refuseLastAdministrator(unit, row);
      return { roles };
    };
    return withTenant(unit, await changeRecord(unit, USERS, { target: { id }, change }));
  });
  if (!isRefusal(changed)) dependencies.forgetCallers();
  return changed;
}

/** The keys of this environment one by one, so that the audit trail has them. */
async function revokeKeys(unit: Unit, userId: string): Promise<void> {
  const keys = await findPublished(unit, KEYS, isEqual('user_id', userId));
  for (const row of keys) {
    await updateRecord(unit, KEYS, { row, patch: { status: 'deleted' } });
  }
  await revokeOtherKeys(unit, userId);
}

/** DELETE /users/{id}: archives the user and revokes all keys; a token is refused at once. */
export async function deleteUser(
  dependencies: RightsDependencies,
  occasion: OccasionWithRoles,
  id: string,
): Promise<UserRow | Refusal> {
  if (id === occasion.actor.userId) {
    return new Refusal('invalid_operation', 'you cannot delete yourself: ask somebody else');
  }
  const deleted = await writeUnit(dependencies, occasion, async (unit) => {
    await lockOwnTenant(unit);
    const known = await findRecord(unit, USERS, id);
    if (known !== null && !coverRoles(occasion.roles, known.roles)) throw new Refused(ABOVE_OWN);
    if (known !== null) await refuseLastAdministrator(unit, known);
    const row = await removeRecord(unit, USERS, { id, guards: [] });
    await revokeKeys(unit, id);
    return row;
  });
  if (!isRefusal(deleted)) dependencies.forgetCallers();
  return deleted;
}
