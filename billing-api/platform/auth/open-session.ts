import { formatInstant } from '../../../contract/instant.js';
import type { OpenedSession } from '../../../sql/console-sessions.js';
import { createUserCallers } from '../../../sql/user-callers.js';
import { userToDto } from '../../declarations/platform/user.resource.js';
import { invalid, isRefusal, Refusal } from '../../records/refusal.js';
import type { UserWithTenant } from '../users/user-operations.js';
import type { OpenSessionBody, SessionDto } from './auth-dto.js';
import { checkLogin, readSignedIn, WRONG } from './log-in.js';
import type { AuthDependencies } from './sign-up.js';

export type SessionOfUser = { readonly session: OpenedSession; readonly user: UserWithTenant };

const SWITCHED_OFF = new Refusal(
  'permission_denied',
  'the console is switched off here: MINUTEBOOK_CONSOLE switches it on',
);

/** A session for whoever knows the password or the code; WRONG for anybody else. */
async function openFor(
  dependencies: AuthDependencies,
  { email, password, code }: OpenSessionBody,
): Promise<OpenedSession | Refusal | typeof WRONG> {
  const { sessions } = dependencies;
  if (code !== undefined) {
    if (email !== undefined || password !== undefined) {
      return invalid({ code: 'stands alone: leave out email and password' });
    }
    return (await sessions.redeem(code)) ?? WRONG;
  }
  if (email === undefined) return invalid({ email: 'is required, or a code in its place' });
  if (password === undefined) return invalid({ password: 'is required' });
  const login = await checkLogin(dependencies, { email, password });
  return login === null ? WRONG : sessions.open(login);
}

/** POST /auth/session. */
export async function openSession(
  dependencies: AuthDependencies,
  body: OpenSessionBody,
): Promise<SessionOfUser | Refusal | typeof WRONG> {
  const { database, sessions, tokens } = dependencies;
  if (!sessions.isOpen) return SWITCHED_OFF;
  const session = await openFor(dependencies, body);
  if (session === WRONG || isRefusal(session)) return session;
  const { tenantId, userId } = session;
  const named = { tenantId, userId, environmentId: null, issuedAtMs: tokens.now() };
  const caller = await createUserCallers(database).find(named);
  if (caller === null) return WRONG;
  const user = await readSignedIn(dependencies, session, caller.firstEnvironment);
  return isRefusal(user) ? user : { session, user };
}

export function sessionToDto({ session, user }: SessionOfUser): SessionDto {
  return {
    expires_at: formatInstant(session.expiresAt),
    user: userToDto(user.row, { ...user, environmentId: null }),
  };
}
