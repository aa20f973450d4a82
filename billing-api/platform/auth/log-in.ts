import type { Environment } from '../../../contract/environment.js';
import { createUserCallers, type Login } from '../../../sql/user-callers.js';
import type { TokenClaims } from '../../edge/access/tokens.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { readUnit } from '../../records/unit.js';
import { readRecord } from '../../records/find-record.js';
import { withTenant, type UserWithTenant } from '../users/user-operations.js';
import { USERS } from '../../declarations/platform/user.resource.js';
import type { LogInBody } from './auth-dto.js';
import type { AuthDependencies, SignedIn } from './sign-up.js';

/** Nobody with this address and password; it does not tell which of the two is wrong. */
export const WRONG = 'wrong';

/** The user of an address and a password; null when one of them is wrong. */
export async function checkLogin(
  { database, passwords }: AuthDependencies,
  { email, password }: Pick<LogInBody, 'email' | 'password'>,
): Promise<Login | null> {
  const login = await createUserCallers(database).findLogin(email);
  const isRight = await passwords.verify(login?.passwordHash ?? null, password);
  return isRight ? login : null;
}

/**
 * POST /auth/login. An environment that is not the tenant's is refused as with a token, and only
 * after the password was right.
 */
export async function logIn(
  dependencies: AuthDependencies,
  body: LogInBody,
): Promise<SignedIn | Refusal | typeof WRONG> {
  const login = await checkLogin(dependencies, body);
  if (login === null) return WRONG;
  const { tenantId, userId } = login;
  const named = { tenantId, userId, environmentId: body.environment_id ?? null };
  const { database, tokens } = dependencies;
  const caller = await createUserCallers(database).find({ ...named, issuedAtMs: tokens.now() });
  if (caller === null) return WRONG;
  if (named.environmentId !== null && caller.environment === null) {
    const message = `environment ${named.environmentId.slice(0, 300)} is not one of your tenant`;
    return new Refusal('permission_denied', message);
  }
  return signedInOf(dependencies, named, caller.environment ?? caller.firstEnvironment);
}

/** Whoever has just signed in. */
export function readSignedIn(
  dependencies: AuthDependencies,
  { userId }: Pick<TokenClaims, 'userId'>,
  environment: Environment,
): Promise<UserWithTenant | Refusal> {
  return readUnit(dependencies, { environment }, async (unit) =>
    withTenant(unit, await readRecord(unit, USERS, userId)),
  );
}

/** A user, and a new token. */
export async function signedInOf(
  dependencies: AuthDependencies,
  claims: TokenClaims,
  environment: Environment,
): Promise<SignedIn | Refusal> {
  const user = await readSignedIn(dependencies, claims, environment);
  return isRefusal(user) ? user : { user, token: await dependencies.tokens.issue(claims) };
}
