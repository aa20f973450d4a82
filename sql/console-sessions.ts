import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { HOUR_MS, type InstantMs } from '../contract/instant.js';
import { instantColumn, noRows } from './columns.js';
import { createDatabase, type Database } from './pool.js';
import { statement } from './statement.js';

/** Whom a session of the console belongs to. */
export type SessionUser = { readonly tenantId: string; readonly userId: string };

export type OpenedSession = SessionUser & {
  /** What the cookie carries; only its SHA-256 is kept. */
  readonly secret: string;
  readonly expiresAt: InstantMs;
};

/** Sessions of the console (docs/http.md 1.2). @throws DependencyError when PostgreSQL fails. */
export type ConsoleSessions = {
  open(user: SessionUser, now: InstantMs): Promise<OpenedSession>;
  /** Null for a code that is unknown, used or expired. */
  redeem(code: string, now: InstantMs): Promise<OpenedSession | null>;
  /** Null for a session that was closed or has expired. */
  find(
    secret: string,
    now: InstantMs,
  ): Promise<(SessionUser & { readonly openedAt: InstantMs }) | null>;
  close(secret: string): Promise<void>;
};

/** As long as a token lives. */
const LIVES_MS = 24 * HOUR_MS;
/** Long enough to open the address that was printed, short enough for a log that somebody reads. */
const CODE_LIVES_MS = HOUR_MS / 4;
const SECRET_BYTES = 32;

const openSession = statement('open-console-session', z.unknown());
const closeSession = statement('close-console-session', z.unknown());
const insertCode = statement('insert-console-code', noRows);
const userRow = z.object({ tenant_id: z.string(), user_id: z.string() });
const redeemCode = statement('redeem-console-code', userRow);
const findSession = statement(
  'find-console-session',
  userRow.extend({ created_at: instantColumn }),
);

const createSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');
/** A random secret needs no slow hash. */
const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export function createConsoleSessions({ slonik }: Database): ConsoleSessions {
  return {
    open: async ({ tenantId, userId }, now) => {
      const user = { tenantId, userId };
      const secret = createSecret();
      const expiresAt = now + LIVES_MS;
      const sessionHash = hashOf(secret);
      await slonik.query(
        openSession({ ...user, sessionHash, openedMs: now, expiresMs: expiresAt }),
      );
      return { ...user, secret, expiresAt };
    },
    redeem: async (code, now) => {
      const secret = createSecret();
      const expiresAt = now + LIVES_MS;
      const hashes = { codeHash: hashOf(code), sessionHash: hashOf(secret) };
      const row = await slonik.maybeOne(
        redeemCode({ ...hashes, openedMs: now, expiresMs: expiresAt }),
      );
      if (row === null) return null;
      return { tenantId: row.tenant_id, userId: row.user_id, secret, expiresAt };
    },
    find: async (secret, now) => {
      const row = await slonik.maybeOne(findSession({ sessionHash: hashOf(secret), nowMs: now }));
      if (row === null) return null;
      return { tenantId: row.tenant_id, userId: row.user_id, openedAt: row.created_at };
    },
    close: async (secret) => {
      await slonik.query(closeSession({ sessionHash: hashOf(secret) }));
    },
  };
}

/**
 * A one-time code that opens the console as this user within a quarter of an hour; earlier codes of
 * the user end. Needs the owner's URL: no program may hand out codes.
 */
export async function createConsoleCode(
  ownerUrl: string,
  user: SessionUser,
  now: InstantMs,
): Promise<string> {
  const database = await createDatabase(ownerUrl, { poolSize: 1, role: 'owner' });
  try {
    const code = createSecret();
    const times = { openedMs: now, expiresMs: now + CODE_LIVES_MS };
    await database.slonik.query(insertCode({ ...user, codeHash: hashOf(code), ...times }));
    return code;
  } finally {
    await database.close();
  }
}
