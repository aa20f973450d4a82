import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * How to start the programs of PostgreSQL, which refuse to run as root. Any other account runs them
 * itself, without a prefix.
 */
export type PostgresAccount = {
  readonly ids: { readonly uid: number; readonly gid: number } | null;
  /** Program and arguments in front of the command; empty when the account needs none. */
  readonly prefix: readonly string[];
};

/** `postgres` if the system has it, else `nobody`, which exists everywhere. */
const CANDIDATES = ['postgres', 'nobody'] as const;

async function idsOf(name: string): Promise<{ uid: number; gid: number } | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

async function canReach(
  ids: { uid: number; gid: number },
  paths: readonly string[],
): Promise<boolean> {
  try {
    const script = 'for path in "$@"; do test -r "$path" || exit 1; done';
    await run('sh', ['-c', script, 'sh', ...paths], { ...ids, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

/**
 * The account for PostgreSQL. If it cannot enter the folder in which root works, such as /root, it
 * gets the one capability that allows this (`setpriv` of util-linux).
 * @throws Error when root finds no other account for PostgreSQL, or that account cannot reach
 *   `paths`.
 */
export async function findPostgresAccount(paths: readonly string[]): Promise<PostgresAccount> {
  if (process.getuid?.() !== 0) return { ids: null, prefix: [] };
  for (const name of CANDIDATES) {
    const ids = await idsOf(name);
    if (ids === null) continue;
    if (await canReach(ids, paths)) return { ids, prefix: [] };
    const prefix = [
      'setpriv',
      `--reuid=${ids.uid}`,
      `--regid=${ids.gid}`,
      '--clear-groups',
      '--inh-caps=+dac_override',
      '--ambient-caps=+dac_override',
      // Without this, access(2) ignores the capability, and initdb does not find other programs.
      '--securebits=+no_setuid_fixup',
    ];
    try {
      await run('setpriv', [...prefix.slice(1), 'test', '-r', paths[0] ?? '/'], { cwd: '/' });
      return { ids, prefix };
    } catch {
      throw new Error(
        `PostgreSQL does not run as root, and the account ${name} cannot read ` +
          `${paths.join(' or ')}. Move the project out of the closed folder, or run as another user.`,
      );
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no account postgres or nobody.');
}

/** Options of `spawn` that change to the account; empty when the prefix does so. */
export function spawnIds(account: PostgresAccount): { uid?: number; gid?: number } {
  return account.ids === null || account.prefix.length > 0 ? {} : account.ids;
}

/** Makes the account the owner of a path. */
export async function giveTo(account: PostgresAccount, path: string): Promise<void> {
  if (account.ids !== null) await chown(path, account.ids.uid, account.ids.gid);
}
