import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findLiveOwner } from '../runtime/process.js';

/** Its own file: a second server that finds the directory in use has written all the others. */
const URL_FILE = 'running-url';

/** Writes where the server of this directory answers, with the password of its user. */
export function markUrl(directory: string, url: string): Promise<void> {
  return writeFile(join(directory, URL_FILE), `${url}\n`, { mode: 0o600 });
}

/**
 * The URL of the embedded ClickHouse that runs on this directory, as the user that writes; null
 * when none does. So an operator's verb works beside the running product.
 */
export async function findRunningClickHouse(directory: string): Promise<string | null> {
  if ((await findLiveOwner(directory)) === null) return null;
  const url = await readFile(join(directory, URL_FILE), 'utf8').catch(() => '');
  return url === '' ? null : url.trim();
}
