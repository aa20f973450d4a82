import { formatInstant } from '../../../contract/instant.js';
import { createUserCallers } from '../../../sql/user-callers.js';
import type { RequestActor } from '../../records/occasion.js';
import type { Refusal } from '../../records/refusal.js';
import { mustWrite } from '../../records/unit.js';
import { replacePassword } from '../users/users-store.js';
import type { ChangePasswordBody } from './auth-dto.js';
import { checkLogin, signedInOf, WRONG } from './log-in.js';
import type { AuthDependencies, SignedIn } from './sign-up.js';

/**
 * POST /auth/password: replaces the password of whoever knows it, and signs in with the new one.
 * Tokens that were issued before are refused from then on.
 */
export async function changePassword(
  dependencies: AuthDependencies,
  request: Pick<RequestActor, 'requestId'>,
  { email, password, new_password: newPassword }: ChangePasswordBody,
): Promise<SignedIn | Refusal | typeof WRONG> {
  const { database, passwords, tokens } = dependencies;
  const login = await checkLogin(dependencies, { email, password });
  if (login === null) return WRONG;
  const { tenantId, userId, passwordHash: verifiedHash } = login;
  const named = { tenantId, userId, environmentId: null };
  const caller = await createUserCallers(database).find({ ...named, issuedAtMs: tokens.now() });
  if (caller === null) return WRONG;
  const newHash = await passwords.hash(newPassword);
  const changedAtMs = tokens.now();
  const actor = { kind: 'request', ...request, userId, apiKeyId: null, claim: null } as const;
  const occasion = { environment: caller.firstEnvironment, actor };
  const isChanged = await mustWrite(dependencies, occasion, async (unit) => {
    const change = { userId, verifiedHash, newHash, changedAtMs };
    if (!(await replacePassword(unit, change))) return false;
    const entry = { entityType: 'user_password', entityId: userId, action: 'updated' } as const;
    unit.changes.push({
      ...entry,
      before: null,
      after: { user_id: userId, changed_at: formatInstant(changedAtMs) },
    });
    return true;
  });
  // Somebody else changed it meanwhile.
  if (!isChanged) return WRONG;
  return signedInOf(dependencies, named, caller.firstEnvironment);
}
