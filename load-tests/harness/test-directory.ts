import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const MEMORY_FOLDER = '/dev/shm';
/** The engines of a whole run take a few hundred megabytes. */
const FREE_BYTES_MIN = 4 * 2 ** 30;

export type TestDirectory = { readonly path: string; remove(): Promise<void> };

async function roomiestParent(): Promise<string> {
  try {
    const { bavail, bsize } = await statfs(MEMORY_FOLDER);
    return bavail * bsize >= FREE_BYTES_MIN ? MEMORY_FOLDER : tmpdir();
  } catch {
    return tmpdir();
  }
}

/**
 * A directory of its own for engines of a test: in memory where there is room, since tests make and
 * drop databases all the time and a disk that syncs each of them is what they would wait for. What
 * a kill -9 of an engine leaves behind is the same.
 */
export async function makeTestDirectory(): Promise<TestDirectory> {
  const path = await mkdtemp(join(await roomiestParent(), 'minutebook-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
