import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './failure.js';

/**
 * Whether a process has ended, and only its parent has not asked about it yet: it holds no file, no
 * port and no memory, but keeps its id, for ever where process 1 of a container reaps nothing. This
 * is known on Linux only. The state follows the name, which may hold blanks and brackets itself.
 */
function isUnreaped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^\) [ZX] /.test(stat.slice(stat.lastIndexOf(')')));
  } catch {
    return false;
  }
}

/** Whether a process with this id runs, under any account. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isUnreaped(pid);
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
