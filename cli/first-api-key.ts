import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiKey } from '../sql/api-key.js';

/**
 * The first API key: the configured one, or a random one from the first start. That one is kept in
 * the data directory (mode 0600), because the database holds only its hash and a restart should
 * print the same key.
 */
export async function firstApiKey(
  dataDirectory: string,
  given: string | undefined,
): Promise<string> {
  if (given !== undefined) return given;
  const path = join(dataDirectory, 'first-api-key');
  await mkdir(dataDirectory, { recursive: true });
  if (!existsSync(path)) {
    await writeFile(path, createApiKey('private_key'), { mode: 0o600, flag: 'wx' });
  }
  return (await readFile(path, 'utf8')).trim();
}
