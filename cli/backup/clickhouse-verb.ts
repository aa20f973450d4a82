import type { Command } from 'commander';
import { sql } from 'slonik';
import { refuseUnsupported } from '../../clickhouse/server-facts.js';
import { noRows } from '../../sql/columns.js';
import { createDatabase } from '../../sql/pool.js';
import { withBackupStores, type BackupStores } from './backup-stores.js';
import { refuseWhileAggregatorsLive } from '../operator/postgres-log.js';

/** From now on PostgreSQL remembers this ClickHouse. @throws VerbRefused; DependencyError. */
async function acceptServer({ ownerDatabaseUrl, clickhouse }: BackupStores): Promise<string> {
  const facts = await clickhouse.readServer();
  refuseUnsupported(facts);
  const { identity } = facts;
  const database = await createDatabase(ownerDatabaseUrl, { poolSize: 1, role: 'owner' });
  const run = sql.type(noRows);
  const accepting = database.transaction(async (connection) => {
    await connection.query(
      run`LOCK TABLE aggregator_members, aggregator_checkpoints IN EXCLUSIVE MODE`,
    );
    await refuseWhileAggregatorsLive(connection, 'clickhouse accept');
    await connection.query(run`DELETE FROM clickhouse_identity`);
    await connection.query(run`INSERT INTO clickhouse_identity (identity) VALUES (${identity})`);
  });
  await accepting.finally(() => database.close());
  return identity;
}

/** `minutebook clickhouse accept`. */
async function accept(): Promise<void> {
  const identity = await withBackupStores(process.env, acceptServer);
  console.log(`What is counted is in ClickHouse ${identity} from now on. Start the aggregators.`);
}

/** Adds `minutebook clickhouse accept` for operators, while the aggregators are stopped. */
export function addClickHouseVerb(program: Command): void {
  program
    .command('clickhouse')
    .description('tell which ClickHouse holds what is counted')
    .command('accept')
    .description('count on in the ClickHouse of CLICKHOUSE_URL, to which all rows were moved')
    .action(accept);
}
