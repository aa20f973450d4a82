import type { Occasion } from '../../records/occasion.js';
import { changeRecord } from '../../records/change-record.js';
import { isEqual, isOneOfAsked } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import type { Refusal } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import { readOperation } from '../../records/operation.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type ReadUnit,
  type WriteDependencies,
} from '../../records/unit.js';
import { readOwnTenant } from '../tenants/tenants-store.js';
import type { TenantRow } from '../../declarations/platform/tenant.js';
import {
  USERS,
  type ChangeUserBody,
  type SearchUsersBody,
  type UserRow,
} from '../../declarations/platform/user.resource.js';

/** A user with the tenant, as it is answered. */
export type UserWithTenant = { readonly row: UserRow; readonly tenant: TenantRow };

export async function withTenant(unit: ReadUnit, row: UserRow): Promise<UserWithTenant> {
  return { row, tenant: await readOwnTenant(unit) };
}

/** GET /users/{id} and /users/me, whatever the status. */
export const readUser = readOperation(async (unit, id: string): Promise<UserWithTenant> =>
  withTenant(unit, await readRecord(unit, USERS, id)),
);

/** POST /users/search. */
export function searchUsers(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchUsersBody,
): Promise<Page<UserWithTenant> | Refusal> {
  const conditions = [
    ...isOneOfAsked('id', body.user_ids),
    ...isEqual('type', body.type),
    ...isEqual('email', body.email?.toLowerCase()),
  ];
  return readUnit(dependencies, occasion, async (unit) => {
    const page = await searchRecords(unit, USERS, { request: body, conditions });
    const tenant = await readOwnTenant(unit);
    return { ...page, items: page.items.map((row) => ({ row, tenant })) };
  });
}

/** PUT /users/{id} and /users/me. */
export async function changeUser(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: ChangeUserBody },
): Promise<UserWithTenant | Refusal> {
  const reader = new MemberReader();
  const patch = givenOf({
    name: body.name === '' ? null : body.name,
    metadata: reader.changedMetadata(body.metadata),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) =>
    withTenant(unit, await changeRecord(unit, USERS, { target: { id }, change: () => patch })),
  );
}
