import type { IncomingMessage } from 'node:http';
import type { Sessions } from '../../edge/access/sessions.js';
import type { IssuedToken, Tokens } from '../../edge/access/tokens.js';
import type { Occasion, RequestActor } from '../../records/occasion.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import type { UserWithTenant } from '../users/user-operations.js';
import type { SignUpBody } from './auth-dto.js';
import { storeSignUp, type NewTenant } from './new-tenant.js';
import type { Passwords } from '../users/passwords.js';
import type { PasswordGuesses } from './password-guesses.js';

export type AuthDependencies = WriteDependencies & {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly guesses: PasswordGuesses;
  /** Whether anybody may make a tenant; otherwise only an operator does. */
  readonly isSignUpOpen: boolean;
  readonly clientAddressOf: (request: IncomingMessage) => string;
};

export type SignedIn = { readonly user: UserWithTenant; readonly token: IssuedToken };

function readSignUp({ email, tenant_name, name = '' }: SignUpBody): NewTenant | Refusal {
  const reader = new MemberReader();
  const signUp = {
    email: reader.email('email', email).toLowerCase(),
    tenantName: reader.name('tenant_name', tenant_name),
    name: name === '' ? null : name,
  };
  return reader.refusal() ?? signUp;
}

/**
 * POST /auth/signup. The transaction enters the environment that it makes, so that row-level
 * security lets it write that tenant only; its audit trail is the first of the tenant.
 */
export async function signUp(
  dependencies: AuthDependencies,
  request: Pick<RequestActor, 'requestId'>,
  body: SignUpBody,
): Promise<SignedIn | Refusal> {
  if (!dependencies.isSignUpOpen) {
    const message =
      'sign-up is closed here: an operator makes tenants, with `minutebook tenants create`';
    return new Refusal('permission_denied', message);
  }
  const read = readSignUp(body);
  if (isRefusal(read)) return read;
  const { createId, tokens, passwords } = dependencies;
  const hash = await passwords.hash(body.password);
  const environment = { tenantId: createId('tenant'), environmentId: createId('env') };
  const userId = createId('user');
  const actor = { kind: 'request', ...request, userId, apiKeyId: null, claim: null } as const;
  const occasion: Occasion = { environment, actor };
  const signUp = { ...read, userId };
  const user = await writeUnit(dependencies, occasion, (unit) =>
    storeSignUp(unit, { signUp, hash }),
  );
  if (isRefusal(user)) return user;
  const { tenantId } = environment;
  return { user, token: await tokens.issue({ userId, tenantId, environmentId: null }) };
}
