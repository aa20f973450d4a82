import { admitProgramsLogin, ensureProgramsLogin, withLogin } from '../../sql/programs-role.js';
import { keptText, randomText } from '../../runtime/kept-text.js';

/** The programs' login of the embedded PostgreSQL. */
const PROGRAMS_LOGIN = 'minutebook_login';

/** The URLs of the owner and of the programs; null where we make the programs' login ourselves. */
export type DatabaseLogins = {
  readonly owner: string;
  readonly programs: string | null;
};

/**
 * The URL with which the programs log in: on a server of your own the given one, which is admitted
 * to the role of the programs; on the embedded one a login that we make, with a password beside it.
 */
export async function programsUrl(logins: DatabaseLogins, directory: string): Promise<string> {
  if (logins.programs !== null) {
    await admitProgramsLogin(logins.owner, decodeURIComponent(new URL(logins.programs).username));
    return logins.programs;
  }
  const login = {
    user: PROGRAMS_LOGIN,
    password: (await keptText(directory, 'programs-password', { create: randomText })).text,
  };
  await ensureProgramsLogin(logins.owner, login);
  return withLogin(logins.owner, login);
}
