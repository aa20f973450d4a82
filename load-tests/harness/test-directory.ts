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
 * Creates a directory for the engines of a test, in memory where there is room: tests create and
 * drop databases all the time, and on a disk they would wait for each sync. A kill -9 of an engine
 * leaves the same files behind as on a disk.
 */
export async function makeTestDirectory(): Promise<TestDirectory> {
  const path = await mkdtemp(join(await roomiestParent(), 'minutebook-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Runs the work with a test directory of its own, and removes the directory afterwards. */
export async function inTestDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await makeTestDirectory();
  try {
    await work(directory.path);
  } finally {
    await directory.remove();
  }
}
