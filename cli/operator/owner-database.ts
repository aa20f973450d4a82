import { join } from 'node:path';
import { Lifecycle } from '../../runtime/lifecycle.js';
import { createLog } from '../../runtime/log.js';
import { startEmbeddedPostgres } from '../../sql/embedded.js';
import { migrateDatabase } from '../../sql/migrate.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { findRunningPostgres } from '../../sql/running-embedded.js';
import { readStackConfig, type StackConfig } from '../stack/stack-config.js';

/** The owner's URL of the configured server, of the embedded one that runs, or of a new one. */
async function ownerUrl(config: StackConfig, lifecycle: Lifecycle): Promise<string> {
  const given = config.MINUTEBOOK_OWNER_DATABASE_URL ?? config.DATABASE_URL;
  if (given !== undefined) return given;
  const directory = join(config.MINUTEBOOK_DATA_DIR, 'postgres');
  const running = await findRunningPostgres(directory);
  if (running !== null) return running;
  const server = await startEmbeddedPostgres({ directory, port: 0 });
  lifecycle.onClose('embedded postgres', () => server.stop());
  await migrateDatabase(server.url);
  return server.url;
}

/** Runs an operator's `work` as the owner of PostgreSQL, whether the product runs or not. */
export async function withOwnerDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const lifecycle = new Lifecycle(createLog('minutebook', 'warn'));
  try {
    const url = await ownerUrl(readStackConfig(process.env), lifecycle);
    const database = await createDatabase(url, { poolSize: 2, role: 'owner' });
    lifecycle.onClose('postgres', () => database.close());
    return await work(database);
  } finally {
    await lifecycle.close();
  }
}
