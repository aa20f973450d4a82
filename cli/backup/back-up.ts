import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutOwners } from '../../clickhouse/guard-copies.js';
import { codeOf } from '../../runtime/failure.js';
import { withPatientSession, type BackupStores } from './backup-stores.js';
import { copyClickHouseOut } from './clickhouse-tables.js';
import { BackupRefused, writeManifest, type Manifest } from './manifest.js';
import { copyPostgresOut } from './postgres-tables.js';

/** It holds customers' data, and hashes of keys and passwords. */
const OWNER_ONLY = 0o700;

async function makeEmptyDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: OWNER_ONLY }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new BackupRefused(`${directory} is a file: name a new directory for the backup`);
  });
  if ((await readdir(directory)).length > 0) {
    throw new BackupRefused(`${directory} is not empty: name a new directory for the backup`);
  }
  await chmod(directory, OWNER_ONLY);
  for (const store of ['postgres', 'clickhouse']) {
    await mkdir(join(directory, store), { mode: OWNER_ONLY });
  }
}

/**
 * Writes both databases as of one moment into a new directory: PostgreSQL as of one snapshot, with
 * the log when it is kept there, and ClickHouse while no aggregator can write. Events are accepted
 * meanwhile; those that come later than the snapshot are not in the backup.
 * @throws BackupRefused, or MigrationRefused while an aggregator lives; DependencyError.
 */
export async function backUp(stores: BackupStores, directory: string): Promise<Manifest> {
  const { ownerDatabaseUrl, clickhouse } = stores;
  return withPatientSession(ownerDatabaseUrl, (lock) =>
    withoutOwners({ session: lock, clickhouse }, 'a backup', () =>
      withPatientSession(ownerDatabaseUrl, async (session) => {
        await makeEmptyDirectory(directory);
        await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const postgres = await copyPostgresOut(session, directory);
        const copied = await copyClickHouseOut(clickhouse, directory);
        // Without the lock, an aggregator may have written meanwhile.
        await lock.query('SELECT 1');
        const madeAt = new Date().toISOString();
        const manifest: Manifest = { format: 1, madeAt, postgres, clickhouse: copied };
        await writeManifest(directory, manifest);
        return manifest;
      }),
    ),
  );
}
