import type { Command } from 'commander';
import { backUp } from './back-up.js';
import { withBackupStores } from './backup-stores.js';
import type { Manifest, StoreContents } from './manifest.js';
import { restore } from './restore.js';

const rowsOf = ({ tables }: StoreContents): string =>
  `${tables.reduce((sum, { rows }) => sum + Number(rows), 0)} rows of ${tables.length} tables`;

function print(done: string, { postgres, clickhouse }: Manifest): void {
  console.log(done);
  console.log(`PostgreSQL: ${rowsOf(postgres)}`);
  console.log(`ClickHouse: ${rowsOf(clickhouse)}`);
}

/** `minutebook backup <directory>`. */
async function runBackup(directory: string): Promise<void> {
  const manifest = await withBackupStores(process.env, (stores) => backUp(stores, directory));
  print(`${directory} holds a whole backup of ${manifest.madeAt}`, manifest);
}

/** `minutebook restore <directory>`. */
async function runRestore(directory: string): Promise<void> {
  const manifest = await withBackupStores(process.env, (stores) => restore(stores, directory));
  print(
    `Restored the backup of ${manifest.madeAt}: rows and digest of every table agree`,
    manifest,
  );
}

/** Adds `minutebook backup` and `minutebook restore` for operators. */
export function addBackupVerbs(program: Command): void {
  program
    .command('backup')
    .description(
      'write both databases as of one moment into a new directory (stop all aggregators first)',
    )
    .argument('<directory>', 'new or empty directory')
    .action(runBackup);
  program
    .command('restore')
    .description('fill two empty, migrated databases with a backup, and compare every table')
    .argument('<directory>', 'what `minutebook backup` wrote')
    .action(runRestore);
}
