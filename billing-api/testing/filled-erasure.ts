import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';

const AT = '2025-12-01T09:00:00.000Z';

/** A finished erasure, as `minutebook customers erase` leaves it. */
export async function storeErasure(
  database: Database,
  { tenantId, environmentId }: Environment,
): Promise<void> {
  const id = createId('erasure');
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO event_erasures (id, tenant_id, environment_id, customer, customer_keys, bounds,
      started_at, finished_at)
    VALUES (${id}, ${tenantId}, ${environmentId}, 'gone', '{}', '[]', ${AT}::timestamptz,
      ${AT}::timestamptz)`);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO erased_events (erasure_id, tenant_id, environment_id, hour, events)
    VALUES (${id}, ${tenantId}, ${environmentId}, ${AT}::timestamptz, 3)`);
}
