import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './failure.js';

/** Whether a process with this id exists, under any account. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

const OWNER_FILE = 'owner.pid';

/** Writes into a directory that its engine belongs to this process. */
export function markOwner(directory: string): Promise<void> {
  return writeFile(join(directory, OWNER_FILE), `${process.pid}\n`);
}

/**
 * The process that `markOwner` last named in the directory, if a process with that id is alive.
 * Only a hint for whether waiting makes sense, since ids are reused; the engine's own lock decides.
 */
export async function findLiveOwner(directory: string): Promise<number | null> {
  const text = await readFile(join(directory, OWNER_FILE), 'utf8').catch(() => '');
  const pid = Number(text);
  return Number.isSafeInteger(pid) && pid > 0 && isProcessAlive(pid) ? pid : null;
}
