import type { Answer, BillingUnderTest } from './billing-harness.js';

export const PASSWORD = 'correct horse battery';

/** Headers of a token; no API key goes with them. */
export function bearer(token: string, environmentId?: string): Record<string, string> {
  const chosen = environmentId === undefined ? {} : { 'x-environment-id': environmentId };
  return { 'x-api-key': '', authorization: `Bearer ${token}`, ...chosen };
}

/** The answer to a sign-up with this address. */
export function signUpWith(
  api: BillingUnderTest,
  email: string,
  members: object = {},
): Promise<Answer> {
  const body = { email, password: PASSWORD, tenant_name: 'Example Ltd', ...members };
  return api.call('POST', '/v1/auth/signup', { body, headers: { 'x-api-key': '' } });
}

/** The answer to a sign-in. */
export function logInWith(api: BillingUnderTest, body: object): Promise<Answer> {
  return api.call('POST', '/v1/auth/login', { body, headers: { 'x-api-key': '' } });
}

/** A user of the first tenant with these roles, signed in. */
export async function userWith(
  api: BillingUnderTest,
  roles: readonly string[],
  email = `${['user', ...roles].join('-')}@example.com`,
): Promise<{ readonly id: string; readonly token: string }> {
  const user = await api.make('/v1/users', { type: 'user', email, roles });
  const signedIn = await logInWith(api, { email, password: user.password });
  return { id: user.id as string, token: signedIn.body.token as string };
}
