import { z } from 'zod';
import type { Environment } from '../contract/environment.js';
import type { InstantMs } from '../contract/instant.js';
import type { Database } from './pool.js';
import { statement } from './statement.js';

/**
 * Whom a token names, which environment the request wants, null when it wants none, and when the
 * token was issued, in whole seconds.
 */
export type NamedUser = {
  readonly tenantId: string;
  readonly userId: string;
  readonly environmentId: string | null;
  readonly issuedAtMs: InstantMs;
};

/** A user as of now; nothing is cached, so that a change counts from the next request on. */
export type UserCaller = {
  readonly roles: readonly string[];
  readonly isTenantSuspended: boolean;
  /** The wanted environment; null when none is wanted, or the tenant has no such environment. */
  readonly environment: Environment | null;
  /** The tenant's oldest environment of production, or else its oldest one. */
  readonly firstEnvironment: Environment;
};

/** Finds users by what they sign in with, and by what a token names. */
export type UserCallers = {
  /**
   * Null for one who was deleted, or has another password since.
   * @throws DependencyError when PostgreSQL fails.
   */
  find(named: NamedUser): Promise<UserCaller | null>;
  /** Who signs in with this e-mail address, whatever its case; null for nobody. */
  findLogin(email: string): Promise<Login | null>;
};

/** Whom an e-mail address names, and the hash of the password. */
export type Login = {
  readonly userId: string;
  readonly tenantId: string;
  readonly passwordHash: string;
};

const selectLogin = statement(
  'find-login',
  z.object({ user_id: z.string(), tenant_id: z.string(), password_hash: z.string() }),
);

const findUserCaller = statement(
  'find-user-caller',
  z.object({
    roles: z.array(z.string()),
    is_tenant_suspended: z.boolean(),
    environment_id: z.string().nullable(),
    first_environment_id: z.string(),
  }),
);

export function createUserCallers(database: Database): UserCallers {
  return {
    findLogin: async (email) => {
      const row = await database.slonik.maybeOne(selectLogin({ email }));
      if (row === null) return null;
      const { user_id: userId, tenant_id: tenantId, password_hash: passwordHash } = row;
      return { userId, tenantId, passwordHash };
    },
    find: async ({ issuedAtMs, ...named }) => {
      const query = findUserCaller({ ...named, issuedAtMs });
      const row = await database.slonik.maybeOne(query);
      if (row === null) return null;
      const { tenantId } = named;
      const { environment_id: wanted, first_environment_id: first } = row;
      return {
        roles: row.roles,
        isTenantSuspended: row.is_tenant_suspended,
        environment: wanted === null ? null : { tenantId, environmentId: wanted },
        firstEnvironment: { tenantId, environmentId: first },
      };
    },
  };
}
