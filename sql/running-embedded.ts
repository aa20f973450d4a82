import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPostgres, urlOfEmbedded } from './embedded.js';

/** The port stands in the fourth line of the lock file, the process id in the first. */
async function readLockFile(directory: string): Promise<readonly string[]> {
  const file = join(directory, 'data', 'postmaster.pid');
  return (await readFile(file, 'utf8').catch(() => '')).split('\n');
}

/**
 * The URL of the embedded PostgreSQL that runs on this directory, as its owner; null when none
 * does. So an operator's verb works beside the running product.
 */
export async function findRunningPostgres(directory: string): Promise<string | null> {
  const lines = await readLockFile(directory);
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !(port > 0)) return null;
  if (!(await isPostgres(pid))) return null;
  const password = (await readFile(join(directory, 'password'), 'utf8')).trim();
  return urlOfEmbedded({ password, port });
}
