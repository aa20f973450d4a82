import { createRecord } from '../../records/create-record.js';
import type { Unit } from '../../records/unit.js';
import { ENVIRONMENTS } from '../../declarations/platform/environment.resource.js';
import { recordTenant } from '../tenants/tenant-operations.js';
import { insertOwnTenant } from '../tenants/tenants-store.js';
import type { UserWithTenant } from '../users/user-operations.js';
import { USERS } from '../../declarations/platform/user.resource.js';
import { insertPassword } from '../users/users-store.js';

/** What a new tenant begins with, checked. */
export type NewTenant = {
  /** Of its first super_admin, in lower case; null for one who has keys only. */
  readonly email: string | null;
  readonly tenantName: string;
  readonly name: string | null;
};

type StoredTenant = NewTenant & { readonly userId: string };

/** The tenant, its two environments and its first super_admin. */
export async function storeNewTenant(
  unit: Unit,
  { userId, email, name, tenantName }: StoredTenant,
): Promise<UserWithTenant> {
  const tenant = await insertOwnTenant(unit, tenantName);
  recordTenant(unit, null, tenant);
  const production = { id: unit.environment.environmentId, name: 'Production' };
  await createRecord(unit, ENVIRONMENTS, { ...production, type: 'production' });
  await createRecord(unit, ENVIRONMENTS, { name: 'Development', type: 'development' });
  const user = { id: userId, email, name, type: 'user', roles: ['super_admin'] } as const;
  const row = await createRecord(unit, USERS, { ...user, roles: [...user.roles] });
  return { row, tenant };
}

/** A new tenant whose super_admin signs in with a password. */
export async function storeSignUp(
  unit: Unit,
  { signUp, hash }: { readonly signUp: StoredTenant; readonly hash: string },
): Promise<UserWithTenant> {
  const stored = await storeNewTenant(unit, signUp);
  await insertPassword(unit, { userId: signUp.userId, hash });
  return stored;
}
