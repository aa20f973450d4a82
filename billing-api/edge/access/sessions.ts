import type { IncomingMessage } from 'node:http';
import type { InstantMs } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import {
  createConsoleSessions,
  type OpenedSession,
  type SessionUser,
} from '../../../sql/console-sessions.js';
import type { Database } from '../../../sql/pool.js';
import type { ReadToken } from './tokens.js';

/** Whether there is a console, and whether its cookie is for TLS only (docs/operations.md 2). */
export type ConsoleMode = 'off' | 'http' | 'https';

type Asking = Pick<IncomingMessage, 'headers'>;

/** Sessions of the console as the edge of requests sees them: cookies (docs/http.md 1.2). */
export type Sessions = {
  readonly isOpen: boolean;
  readonly open: (user: SessionUser) => Promise<OpenedSession>;
  /** Null for a code that is unknown, used or expired. */
  readonly redeem: (code: string) => Promise<OpenedSession | null>;
  /** Whether the request carries a cookie of a session, be it a valid one or not. */
  readonly isShown: (request: Asking) => boolean;
  /** What the session of the cookie permits: as much as a token of its user. Null without one. */
  readonly read: (request: Asking) => Promise<ReadToken | null>;
  readonly close: (request: Asking) => Promise<void>;
  /** Whether a page of this very server sent the request. */
  readonly isFromOwnPage: (request: Asking) => boolean;
  /** The header that gives the browser its cookie, or takes it away. */
  readonly cookieFor: (session: OpenedSession | null) => string;
};

/** What a cookie may hold: the base64url of 32 bytes. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

function cookieOf({ headers }: Asking, name: string): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  const value = pairs.find(([key]) => key === name)?.[1] ?? '';
  return SECRET.test(value) ? value : null;
}

/** A browser names the origin of a page with every write, and no page can name another. */
function isFromOwnPage({ headers }: Asking, mode: ConsoleMode): boolean {
  const { origin, host } = headers;
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host && (mode !== 'https' || page.protocol === 'https:');
}

type SessionDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly mode: ConsoleMode;
};

export function createSessions({ database, clock, mode }: SessionDependencies): Sessions {
  const sessions = createConsoleSessions(database);
  // A browser takes a cookie with this prefix over TLS only, and from no neighbouring host.
  const name = mode === 'https' ? '__Host-minutebook' : 'minutebook';
  const secure = mode === 'https' ? '; Secure' : '';
  const secretOf = (request: Asking) => (mode === 'off' ? null : cookieOf(request, name));
  const remainingSeconds = (expiresAt: InstantMs) => Math.floor((expiresAt - clock.now()) / 1000);
  return {
    isOpen: mode !== 'off',
    open: (user) => sessions.open(user, clock.now()),
    redeem: (code) => sessions.redeem(code, clock.now()),
    isShown: (request) => secretOf(request) !== null,
    read: async (request) => {
      const secret = secretOf(request);
      const found = secret === null ? null : await sessions.find(secret, clock.now());
      if (found === null) return null;
      const { tenantId, userId, openedAt } = found;
      // As a token, which tells whole seconds.
      const issuedAtMs = Math.floor(openedAt / 1000) * 1000;
      return { tenantId, userId, environmentId: null, issuedAtMs };
    },
    close: async (request) => {
      const secret = secretOf(request);
      if (secret !== null) await sessions.close(secret);
    },
    isFromOwnPage: (request) => isFromOwnPage(request, mode),
    cookieFor: (session) => {
      const value = session === null ? '' : session.secret;
      const seconds = session === null ? 0 : remainingSeconds(session.expiresAt);
      return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
    },
  };
}
