import type { Client } from 'pg';
import { withSession } from './session.js';

/**
 * As whom the three programs work (0010_forced_row_security.sql): it owns nothing and has no right
 * to a table of a tenant before it enters an environment.
 */
const PROGRAMS_ROLE = 'minutebook_programs';

/** Server option that makes a session work as the programs' role, whoever logs in. */
export const PROGRAMS_OPTION = `-c role=${PROGRAMS_ROLE}`;

/** Adds options of the server (`-c name=value`) to those that a URL may have. */
export function withServerOptions(url: string, options: string): string {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  address.searchParams.set('options', given === null ? options : `${given} ${options}`);
  // The server does not decode a plus sign to a blank.
  address.search = address.searchParams.toString().replaceAll('+', '%20');
  return address.href;
}

/** The URL with another login. */
export function withLogin(url: string, login: { user: string; password: string }): string {
  const address = new URL(url);
  address.username = login.user;
  address.password = login.password;
  return address.href;
}

async function grantProgramsRole(session: Client, user: string): Promise<void> {
  const found = await session.query<{ is_member: boolean }>(
    `SELECT pg_has_role($1::name, $2::name, 'MEMBER') AS is_member`,
    [user, PROGRAMS_ROLE],
  );
  if (found.rows[0]?.is_member === true) return;
  await session.query(`GRANT ${PROGRAMS_ROLE} TO ${session.escapeIdentifier(user)}`);
}

/**
 * Lets an existing login work as the programs' role. Needs the owner's URL and a migrated database;
 * does nothing for a login that may do so already, such as the owner.
 * @throws DependencyError when there is no such login, or the owner may not grant the role.
 */
export function admitProgramsLogin(ownerUrl: string, user: string): Promise<void> {
  return withSession(ownerUrl, (session) => grantProgramsRole(session, user));
}

/**
 * Creates the login of the programs on a server of our own, or gives it this password. It may do
 * nothing but work as the programs' role.
 */
export function ensureProgramsLogin(
  ownerUrl: string,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<void> {
  return withSession(ownerUrl, async (session) => {
    const name = session.escapeIdentifier(user);
    const found = await session.query('SELECT FROM pg_roles WHERE rolname = $1', [user]);
    const verb = found.rowCount === 0 ? 'CREATE' : 'ALTER';
    await session.query(
      `${verb} ROLE ${name} LOGIN NOINHERIT NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE
         PASSWORD ${session.escapeLiteral(password)}`,
    );
    await grantProgramsRole(session, user);
  });
}
