import { findUser, type UserRow } from '../store/users.js';
import type { Caller } from './caller.js';
import type { Reading } from './dependencies.js';
import { notFound, type Refusal } from './refusal.js';

/** GET /users/me. */
export async function readUser({ database }: Reading, caller: Caller): Promise<UserRow | Refusal> {
  const { tenantId } = caller.environment;
  const user = await findUser(database, { tenantId, userId: caller.userId });
  return user ?? notFound('user', caller.userId);
}
