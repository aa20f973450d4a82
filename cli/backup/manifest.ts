import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from '../../runtime/failure.js';
import { VerbRefused } from '../stack/verb-refused.js';

/** A backup that cannot be made or restored as things stand; the message names the remedy. */
export class BackupRefused extends VerbRefused {
  override readonly name = 'BackupRefused';
}

const tableContents = z.object({
  table: z.string(),
  rows: z.string(),
  /** Sum of the hashes of all rows: equal for equal rows in any order. */
  digest: z.string(),
});

const storeContents = z.object({
  /** Names of the applied migrations: rows fit into tables of the same migrations only. */
  migrations: z.array(z.string()),
  tables: z.array(tableContents),
});

const manifestSchema = z.object({
  format: z.literal(1),
  madeAt: z.string(),
  postgres: storeContents,
  clickhouse: storeContents,
});

/** How much a table holds. */
export type TableContents = z.infer<typeof tableContents>;
export type StoreContents = z.infer<typeof storeContents>;
/** What a backup holds. It is written last, so that a directory without it is no backup. */
export type Manifest = z.infer<typeof manifestSchema>;

const FILE = 'manifest.json';

/** Under another name until the disk has all of it. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const unfinished = join(directory, `${FILE}.part`);
  await writeFile(unfinished, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true });
  await rename(unfinished, join(directory, FILE));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @throws BackupRefused when the directory holds no whole backup of this format. */
export async function readManifest(directory: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(directory, FILE), 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new BackupRefused(`${directory} holds no whole backup: it has no ${FILE}`);
  }
  const manifest = manifestSchema.safeParse(parseJson(text));
  if (manifest.success) return manifest.data;
  throw new BackupRefused(`${join(directory, FILE)} is not of a backup of this release`);
}

/** @throws BackupRefused that names the first table whose rows are not those of the backup. */
export function assertSameContents(
  store: string,
  expected: readonly TableContents[],
  found: readonly TableContents[],
): void {
  for (const { table, rows, digest } of expected) {
    const other = found.find((one) => one.table === table);
    if (other?.rows === rows && other.digest === digest) continue;
    throw new BackupRefused(
      `the rows of ${store} table ${table} (${other?.rows ?? 'none'}) are not those of the backup ` +
        `(${rows}): make both databases anew and restore again; the backup is unchanged`,
    );
  }
}

/** @throws BackupRefused when the tables were made by other migrations than those of the backup. */
export function assertSameMigrations(
  store: string,
  backup: readonly string[],
  applied: readonly string[],
): void {
  const missing = backup.filter((name) => !applied.includes(name));
  const later = applied.filter((name) => !backup.includes(name));
  if (missing.length === 0 && later.length === 0) return;
  const difference = [...missing, ...later].join(', ');
  throw new BackupRefused(
    `the backup is of another release (${store} migrations ${difference}): restore it with that ` +
      'release, then upgrade',
  );
}
