import type { OccasionWithRoles } from '../../edge/request-context.js';
import { createRecord } from '../../records/create-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { createPassword, type Passwords } from './passwords.js';
import { ABOVE_OWN, coverRoles, rolesRefusal } from '../roles/roles.js';
import { limitsOf } from '../settings/tenant-limits.js';
import { lockOwnTenant } from '../tenants/tenants-store.js';
import { withTenant, type UserWithTenant } from './user-operations.js';
import { USERS, type CreateUserBody } from '../../declarations/platform/user.resource.js';
import { countUsers, insertPassword } from './users-store.js';

/** An empty name is none. */
function nameOf({ name = '' }: Pick<CreateUserBody, 'name'>): string | null {
  return name === '' ? null : name;
}

/** The user that a request describes, or what is wrong with it. */
function newUser({ type, email, roles = [], ...rest }: CreateUserBody) {
  const name = nameOf(rest);
  const reader = new MemberReader();
  if (type === 'user' && email === undefined) reader.note('email', 'is required for a user');
  if (type === 'service_account' && email !== undefined) {
    reader.note('email', 'a service account has none: it does not sign in');
  }
  const address = email === undefined ? null : reader.email('email', email).toLowerCase();
  const own = [...new Set(roles)];
  const user = { type, email: address, name, roles: own };
  return reader.refusal() ?? rolesRefusal(type, own) ?? user;
}

type NewUser = Exclude<ReturnType<typeof newUser>, Refusal>;

async function storeUser(
  unit: Unit,
  { user, hash }: { readonly user: NewUser; readonly hash: string | null },
): Promise<UserWithTenant> {
  const { users } = limitsOf(await lockOwnTenant(unit));
  if ((await countUsers(unit)) >= users) {
    const message = `the tenant may have ${users} users and service accounts: delete one, or ask the operator of the installation for a higher limit`;
    throw new Refused(new Refusal('invalid_operation', message));
  }
  const row = await createRecord(unit, USERS, user);
  if (hash !== null) await insertPassword(unit, { userId: row.id, hash });
  return withTenant(unit, row);
}

/** POST /users: the user, and the password that nobody is told again. */
export async function createUser(
  dependencies: WriteDependencies & { readonly passwords: Passwords },
  occasion: OccasionWithRoles,
  body: CreateUserBody,
): Promise<{ readonly user: UserWithTenant; readonly password: string | null } | Refusal> {
  const user = newUser(body);
  if (isRefusal(user)) return user;
  if (!coverRoles(occasion.roles, user.roles)) return ABOVE_OWN;
  const password = user.type === 'user' ? createPassword() : null;
  const hash = password === null ? null : await dependencies.passwords.hash(password);
  const stored = await writeUnit(dependencies, occasion, (unit) => storeUser(unit, { user, hash }));
  return isRefusal(stored) ? stored : { user: stored, password };
}
