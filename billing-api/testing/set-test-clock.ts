import { sql } from 'slonik';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { noRows } from '../../sql/columns.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';

/** Turns an environment into one of this type: only one of development can have a test clock. */
export async function setEnvironmentType(
  database: Database,
  { environmentId }: Environment,
  type: 'development' | 'production',
): Promise<void> {
  await ownerOf(database).query(sql.type(noRows)`
    UPDATE environments SET type = ${type} WHERE id = ${environmentId}`);
}

/** Sets the test clock of an environment, which gets this id; or removes it (null). */
export async function setTestClock(
  database: Database,
  { tenantId, environmentId }: Environment,
  now: InstantMs | null,
): Promise<string> {
  const owner = ownerOf(database);
  await owner.query(sql.type(noRows)`
    DELETE FROM test_clocks WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}`);
  const id = createId('clock');
  if (now === null) return id;
  await owner.query(sql.type(noRows)`
    INSERT INTO test_clocks (tenant_id, environment_id, id, now)
    VALUES (${tenantId}, ${environmentId}, ${id}, ${formatInstant(now)})`);
  return id;
}
