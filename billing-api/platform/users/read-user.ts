import { findUser, type UserRow } from './users-store.js';
import type { Caller } from '../../records/caller.js';
import type { ReadDependencies } from '../../records/unit.js';
import { notFound, type Refusal } from '../../records/refusal.js';

/** GET /users/me. */
export async function readUser(
  { database }: ReadDependencies,
  caller: Caller,
): Promise<UserRow | Refusal> {
  const user = await findUser(database, caller.environment, caller.userId);
  return user ?? notFound('user', caller.userId);
}
