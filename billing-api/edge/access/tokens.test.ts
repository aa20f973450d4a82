import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../contract/instant.js';
import { createTokens } from './tokens.js';

const SECRET = 'a secret of the test, of 32 characters at least';
const CLAIMS = { userId: 'user_1', tenantId: 'tenant_1', environmentId: 'env_1' };
const START = Date.UTC(2026, 0, 20, 10);

function tokensAt(now: () => number, secret = SECRET) {
  return createTokens(secret, { now });
}

/** A token of ours, but for one thing. */
function signed(payload: Record<string, string>, alg: 'HS256' | 'HS512' = 'HS256') {
  return new SignJWT(payload)
    .setProtectedHeader({ alg })
    .setIssuer('minutebook')
    .setSubject('user_1')
    .setIssuedAt(START / 1000)
    .setExpirationTime(START / 1000 + 60)
    .sign(new TextEncoder().encode(SECRET));
}

describe('tokens', () => {
  it('say who was signed in, with and without an environment', async () => {
    const tokens = tokensAt(() => START);
    for (const environmentId of ['env_1', null]) {
      const { token } = await tokens.issue({ ...CLAIMS, environmentId });
      expect(await tokens.read(token)).toEqual({ ...CLAIMS, environmentId, issuedAtMs: START });
    }
  });

  it('live for 24 hours and not a second longer', async () => {
    let now = START;
    const tokens = tokensAt(() => now);
    const { token, expiresAt } = await tokens.issue(CLAIMS);
    expect(expiresAt).toBe(START + 24 * HOUR_MS);
    now = expiresAt - 1000;
    expect(await tokens.read(token)).toEqual({ ...CLAIMS, issuedAtMs: START });
    now = expiresAt;
    expect(await tokens.read(token)).toBeNull();
  });

  it('of another secret, of another form or changed by a letter are nobody', async () => {
    const tokens = tokensAt(() => START);
    const { token } = await tokens.issue(CLAIMS);
    const foreign = await tokensAt(() => START, `${SECRET}!`).issue(CLAIMS);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const others = [
      foreign.token,
      `${header}.${payload}x.${signature}`,
      `${header}.${payload}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      await signed({ tenant_id: 'tenant_1' }, 'HS512'),
      await signed({}),
      'x.y.z',
      '',
    ];
    for (const other of others) expect([other, await tokens.read(other)]).toEqual([other, null]);
    expect(await tokens.read(await signed({ tenant_id: 'tenant_1' }))).toMatchObject({
      tenantId: 'tenant_1',
      environmentId: null,
    });
  });
});
