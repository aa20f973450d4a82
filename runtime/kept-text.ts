import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from './config.js';
import { codeOf } from './failure.js';

export type KeptText = {
  readonly text: string;
  /** Whether it was made now. */
  readonly isNew: boolean;
  /** Whether it was made for a file that was there and empty. */
  readonly isMended: boolean;
};

/** How a secret text is made and kept. */
export type Keeping = {
  readonly create: () => string;
  /**
   * What to do when the file is missing or empty although something was made with its text. Without
   * it another text is made.
   */
  readonly remedy?: string | null;
};

/** 192 random bits. */
export function randomText(): string {
  return randomBytes(24).toString('hex');
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeDraft(draft: string, text: string): Promise<void> {
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Gives the draft its name, unless another process was first; some file systems have no links. */
async function putInPlace(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') await rename(draft, path);
  }
}

/**
 * Writes a file that only its owner can read (mode 0600): it is there whole, also after a crash, or
 * not at all.
 * @throws ConfigError that names the file and what the system said.
 */
async function writeWhole(
  path: string,
  create: () => string,
  place: (draft: string, path: string) => Promise<void>,
): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeDraft(draft, create());
    await place(draft, path);
    await sync(dirname(path));
  } catch (error) {
    const reason = codeOf(error);
    if (reason === null) throw error;
    throw new ConfigError([
      `${path} cannot be written (${reason}): make room or give access, and start again`,
    ]);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Null when there is no such file. */
async function readIfThere(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * A secret text that the first start makes and keeps in a file. An empty one, as an earlier release
 * left it on a full disk, gets another text where that is safe.
 * @throws ConfigError when there is no text and must not be another one, or it cannot be written.
 */
export async function keptText(
  directory: string,
  name: string,
  { create, remedy = null }: Keeping,
): Promise<KeptText> {
  const path = join(directory, name);
  const known = await readIfThere(path);
  if (known !== null && known !== '') return { text: known, isNew: false, isMended: false };
  if (remedy !== null) {
    throw new ConfigError([`${path} is ${known === null ? 'missing' : 'empty'}: ${remedy}`]);
  }
  await writeWhole(path, create, known === null ? putInPlace : rename);
  const text = (await readFile(path, 'utf8')).trim();
  return { text, isNew: true, isMended: known !== null };
}
