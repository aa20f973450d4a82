import { constants, existsSync } from 'node:fs';
import { access, mkdir, opendir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../../runtime/config.js';
import { codeOf, messageOf } from '../../runtime/failure.js';

/** Makes the directory when it is missing. @throws ConfigError when it cannot be made or used. */
export async function makeDataDirectory(path: string): Promise<void> {
  try {
    await makeDirectories(resolve(path));
    await access(path, constants.W_OK);
  } catch (error) {
    const reason = codeOf(error) ?? messageOf(error);
    const remedy = 'choose a directory that this user may write to';
    throw new ConfigError([`MINUTEBOOK_DATA_DIR: ${path} cannot be used (${reason}): ${remedy}`]);
  }
}

/** Makes the folders one by one: Node's recursive mkdir never ends below /proc. */
async function makeDirectories(path: string): Promise<void> {
  if (existsSync(path)) return void (await opendir(path).then((directory) => directory.close()));
  await makeDirectories(dirname(path));
  await mkdir(path);
}

/** What an operator can do about a failure of the file system; null for another failure. */
export function fileProblemOf(error: unknown, directory: string): ConfigError | null {
  const { code, path } = error as NodeJS.ErrnoException;
  const isOfData = typeof path === 'string' && resolve(path).startsWith(resolve(directory));
  const isFullDisk = code === 'ENOSPC' || code === 'EDQUOT';
  if (typeof code !== 'string' || !(isOfData || isFullDisk)) return null;
  const remedy = isFullDisk
    ? 'the disk is full: make room, and start again'
    : 'give this user the right to read and write all of the directory, and start again';
  const at = path ?? directory;
  return new ConfigError([`MINUTEBOOK_DATA_DIR: ${at} cannot be used (${code}): ${remedy}`]);
}
