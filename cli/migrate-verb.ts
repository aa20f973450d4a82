import { migrateClickHouse } from '../clickhouse/migrate.js';
import { readConfig, required } from '../runtime/config.js';
import { bootstrap } from '../sql/bootstrap.js';
import { migrateDatabase } from '../sql/migrate.js';
import { admitProgramsLogin } from '../sql/programs-role.js';

function print(engine: string, applied: readonly string[]): void {
  const done =
    applied.length === 0 ? 'has all migrations already' : `now has ${applied.join(', ')}`;
  console.log(`${engine} ${done}`);
}

/**
 * `minutebook migrate`: brings the tables of servers of your own to this release, and lets the
 * login of the programs work with them. With `MINUTEBOOK_BOOTSTRAP_API_KEY` it also makes the first
 * tenant and that key, unless they exist. It can be repeated.
 * @throws ConfigError, DependencyError or MigrationRefused that says what to do.
 */
export async function runMigrateVerb(): Promise<void> {
  const config = readConfig(
    [
      'DATABASE_URL',
      'MINUTEBOOK_OWNER_DATABASE_URL',
      'CLICKHOUSE_URL',
      'MINUTEBOOK_BOOTSTRAP_API_KEY',
    ],
    process.env,
  );
  const databaseUrl = required(config, 'DATABASE_URL');
  const clickhouseUrl = required(config, 'CLICKHOUSE_URL');
  const owner = config.MINUTEBOOK_OWNER_DATABASE_URL ?? databaseUrl;
  print('PostgreSQL', await migrateDatabase(owner));
  await admitProgramsLogin(owner, decodeURIComponent(new URL(databaseUrl).username));
  print('ClickHouse', await migrateClickHouse(clickhouseUrl, owner));
  const apiKey = config.MINUTEBOOK_BOOTSTRAP_API_KEY;
  if (apiKey === undefined) return;
  const { environment, userId } = await bootstrap(owner, { apiKey });
  console.log(`The first API key acts for ${userId} in environment ${environment.environmentId}`);
}
