import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './failure.js';

/** Whether a process with this number exists; another account's counts too. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

const OWNER_FILE = 'owner.pid';

/** Notes in a directory that the engine on it belongs to this process. */
export function markOwner(directory: string): Promise<void> {
  return writeFile(join(directory, OWNER_FILE), `${process.pid}\n`);
}

/**
 * The process that last noted itself there, if a process of that number is alive. Only a hint, as
 * numbers are reused: the engine's own lock decides, this tells whether waiting for it makes sense.
 */
export async function findLiveOwner(directory: string): Promise<number | null> {
  const text = await readFile(join(directory, OWNER_FILE), 'utf8').catch(() => '');
  const pid = Number(text);
  return Number.isSafeInteger(pid) && pid > 0 && isProcessAlive(pid) ? pid : null;
}
