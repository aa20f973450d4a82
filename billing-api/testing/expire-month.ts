import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Database } from '../../sql/pool.js';

const run = sql.type(z.unknown());

const COUNT = `INSERT INTO expired_events_v1
  SELECT tenant_id, environment_id, event_name,
    toDateTime64(intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600, 0, 'UTC') AS hour,
    toDateTime64(intDiv(toUnixTimestamp64Milli(received_at), 3600000) * 3600, 0, 'UTC') AS received_hour,
    toDate32(appended_at) AS append_day, count()
  FROM events_v1 WHERE toYYYYMM(appended_at) = {month:UInt32}
  GROUP BY tenant_id, environment_id, event_name, hour, received_hour, append_day`;

/** Says that an environment had events in a month that expired long ago. */
export async function storeExpiredMonth(
  database: Database,
  { tenantId, environmentId }: Environment,
  month = '2000-01-01',
): Promise<void> {
  await ownerOf(database).query(run`
    INSERT INTO expired_months (append_month) VALUES (${month}::date) ON CONFLICT DO NOTHING`);
  await ownerOf(database).query(run`
    INSERT INTO expired_month_environments (tenant_id, environment_id, append_month)
    VALUES (${tenantId}, ${environmentId}, ${month}::date)`);
}

/** Says that an environment has lost an event of that month. */
export function storeExpiredEvents(
  client: ClickHouse,
  { tenantId, environmentId }: Environment,
): Promise<void> {
  return client.command(
    `INSERT INTO expired_events_v1 VALUES ({tenantId:String}, {environmentId:String}, 'old',
       '2000-01-10 10:00:00', '2000-01-10 10:00:00', '2000-01-10', 1)`,
    { tenantId, environmentId },
  );
}

/** What the aggregator's retention does to the raw events of a month (`2026-01`), step by step. */
export function retentionOf(database: Database, client: ClickHouse, month: string) {
  const first = `${month}-01`;
  return {
    count: () => client.command(COUNT, { month: Number(month.replace('-', '')) }),
    expire: async (): Promise<void> => {
      await ownerOf(database).query(run`
        INSERT INTO expired_months (append_month) VALUES (${first}::date)`);
      const environments = await client.query(
        `SELECT DISTINCT tenant_id, environment_id FROM expired_events_v1
         WHERE toYYYYMM(append_day) = {month:UInt32}`,
        { month: Number(month.replace('-', '')) },
        z.object({ tenant_id: z.string(), environment_id: z.string() }),
      );
      for (const { tenant_id: tenantId, environment_id: environmentId } of environments) {
        await storeExpiredMonth(database, { tenantId, environmentId }, first);
      }
    },
    remove: () =>
      client.command(`ALTER TABLE events_v1 DROP PARTITION ID '${month.replace('-', '')}'`),
  };
}
