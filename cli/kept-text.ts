import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type KeptText = {
  readonly text: string;
  /** Whether it was made now. */
  readonly isNew: boolean;
};

/** 192 random bits. */
export function randomText(): string {
  return randomBytes(24).toString('hex');
}

/** A secret text that the first start makes and keeps in a file (mode 0600). */
export async function keptText(
  directory: string,
  name: string,
  create: () => string,
): Promise<KeptText> {
  const path = join(directory, name);
  await mkdir(directory, { recursive: true });
  const isNew = !existsSync(path);
  if (isNew) await writeFile(path, create(), { mode: 0o600, flag: 'wx' });
  return { text: (await readFile(path, 'utf8')).trim(), isNew };
}
