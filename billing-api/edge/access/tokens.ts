import { errors, jwtVerify, SignJWT } from 'jose';
import { HOUR_MS, type InstantMs } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';

/** What a token says (docs/http.md 1.2). */
export type TokenClaims = {
  readonly userId: string;
  readonly tenantId: string;
  /** The environment that its requests are for; null leaves it to X-Environment-ID. */
  readonly environmentId: string | null;
};

/** What a token of ours says, and when it was signed, in whole seconds. */
export type ReadToken = TokenClaims & { readonly issuedAtMs: InstantMs };

export type IssuedToken = { readonly token: string; readonly expiresAt: InstantMs };

export type Tokens = {
  /** Of the clock by which they are signed. */
  readonly now: () => InstantMs;
  readonly issue: (claims: TokenClaims) => Promise<IssuedToken>;
  /** Null for a token that we did not sign, or that has expired. */
  readonly read: (token: string) => Promise<ReadToken | null>;
};

const LIVES_MS = 24 * HOUR_MS;
const ISSUER = 'minutebook';
/** The one that is accepted, so that no token can choose a weaker one. */
const ALGORITHM = 'HS256';

function textClaim(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Signs and reads the tokens of users: JWT, valid for 24 hours in whole seconds. */
export function createTokens(secret: string, clock: Clock): Tokens {
  const key = new TextEncoder().encode(secret);
  return {
    now: () => clock.now(),
    issue: async ({ userId, tenantId, environmentId }) => {
      const issuedAt = Math.floor(clock.now() / 1000);
      const expiresAt = issuedAt + LIVES_MS / 1000;
      const environment = environmentId === null ? {} : { environment_id: environmentId };
      const token = await new SignJWT({ tenant_id: tenantId, ...environment })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { token, expiresAt: expiresAt * 1000 };
    },
    read: async (token) => {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          requiredClaims: ['sub', 'iat', 'exp', 'tenant_id'],
          currentDate: new Date(clock.now()),
        });
        const userId = textClaim(payload.sub);
        const tenantId = textClaim(payload['tenant_id']);
        const { iat } = payload;
        if (userId === null || tenantId === null || iat === undefined) return null;
        const environmentId = textClaim(payload['environment_id']);
        return { userId, tenantId, environmentId, issuedAtMs: iat * 1000 };
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}
