import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { admitProgramsLogin, ensureProgramsLogin, withLogin } from '../sql/programs-role.js';

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
    password: await readPassword(directory),
  };
  await ensureProgramsLogin(logins.owner, login);
  return withLogin(logins.owner, login);
}

/** The password of the programs' login: random, made at the first start (mode 0600). */
async function readPassword(directory: string): Promise<string> {
  const path = join(directory, 'programs-password');
  if (!existsSync(path)) {
    await writeFile(path, randomBytes(24).toString('hex'), { mode: 0o600 });
  }
  return (await readFile(path, 'utf8')).trim();
}
