import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';

const AT = '2026-01-20T02:00:00.000Z';

/** A job that failed too often, as the runner of jobs leaves it. */
export async function storeParkedJob(
  database: Database,
  { tenantId, environmentId }: Environment,
): Promise<{ readonly parked_job: string }> {
  const id = createId('job');
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO jobs (id, name, tenant_id, environment_id, turn, key, input, status, attempts, due_at,
      run_at, error, parked_at, created_at)
    VALUES (${id}, 'finalize-invoice', ${tenantId}, ${environmentId},
      ${`${tenantId}|${environmentId}`}, '', '{"as_of": "2026-01-20T02:00:00.000Z"}', 'parked', 10,
      ${AT}::timestamptz, ${AT}::timestamptz, 'ClickHouse: Timeout error.', ${AT}::timestamptz,
      ${AT}::timestamptz)`);
  return { parked_job: id };
}
