import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { integerColumn, noRows } from '../../../sql/columns.js';
import { isOfTenant } from '../../records/conditions.js';
import { authorOf } from '../../records/occasion.js';
import type { Unit } from '../../records/unit.js';

const countRow = z.object({ count: integerColumn });

/** Users and service accounts of the tenant that are not archived; under its lock. */
export async function countUsers({ tx }: Unit): Promise<number> {
  const { count } = await tx.one(sql.type(countRow)`
    SELECT count(*) AS count FROM users WHERE status = 'published' AND ${isOfTenant}`);
  return count;
}

/** Whether somebody else of the tenant is super_admin; under its lock. */
export function hasOtherAdministrator({ tx }: Unit, userId: string): Promise<boolean> {
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM users WHERE status = 'published' AND 'super_admin' = ANY (roles)
      AND id <> ${userId} AND ${isOfTenant}`);
}

/** Keeps the hash of a new user's password. */
export async function insertPassword(
  { tx, now }: Unit,
  password: { readonly userId: string; readonly hash: string },
): Promise<void> {
  await tx.query(sql.type(noRows)`
    INSERT INTO user_passwords (tenant_id, user_id, password_hash, created_at)
    VALUES (current_setting('minutebook.tenant_id', true), ${password.userId}, ${password.hash},
      ${formatInstant(now)})`);
}

type ReplacedPassword = {
  readonly userId: string;
  readonly verifiedHash: string;
  readonly newHash: string;
  /** By the clock with which tokens are signed. */
  readonly changedAtMs: InstantMs;
};

/** Replaces a password that was verified; false when it was changed meanwhile. */
export async function replacePassword(
  { tx }: Unit,
  { userId, verifiedHash, newHash, changedAtMs }: ReplacedPassword,
): Promise<boolean> {
  const { is_changed: isChanged } = await tx.one(sql.type(z.object({ is_changed: z.boolean() }))`
    SELECT change_password(${userId}, ${verifiedHash}, ${newHash},
      ${formatInstant(changedAtMs)}::timestamptz) AS is_changed`);
  return isChanged;
}

/** Revokes what keys the user has in other environments; those of this one are gone already. */
export async function revokeOtherKeys({ tx, now, actor }: Unit, userId: string): Promise<void> {
  await tx.query(sql.type(z.unknown())`
    SELECT revoke_keys_of_user(${userId}, ${formatInstant(now)}::timestamptz, ${authorOf(actor)})`);
}
