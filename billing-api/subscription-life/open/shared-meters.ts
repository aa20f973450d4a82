import { sql } from 'slonik';
import { z } from 'zod';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';

const sharedRow = z.object({ id: z.string(), metered: z.string() });

/** So many other subscriptions are named. */
const NAMED_MAX = 10;

/**
 * What whoever has just made a subscription should know: other subscriptions of the customer that
 * go on and have lines of the same meters, so that both bill the same usage. Two equal ones are
 * allowed, and are usually a request that was sent twice.
 */
export async function findSharedMeters(
  { tx }: StatementUnit,
  subscriptionId: string,
): Promise<readonly string[]> {
  const rows = await tx.any(sql.type(sharedRow)`
      SELECT other.id, string_agg(DISTINCT meter.name, ', ' ORDER BY meter.name) AS metered
      FROM subscriptions AS own
      JOIN subscriptions AS other
        ON other.customer_id = own.customer_id AND other.id <> own.id
        AND ${rowIsIn(['other', 'subscription_status'], SUBSCRIPTION, 'alive')}
        AND ${rowIsOfEnvironment('other')}
      -- OFFSET 0 keeps the order: lines are looked up by subscription. By meter, PostgreSQL would
      -- read those of everybody as long as it has not counted a new table.
      CROSS JOIN LATERAL (
        SELECT line.meter_id FROM subscription_line_items AS line
        CROSS JOIN LATERAL (
          SELECT start_date, end_date FROM subscription_line_items AS beside
          WHERE beside.subscription_id = other.id AND beside.meter_id = line.meter_id
            AND ${rowIsOfEnvironment('beside')} OFFSET 0
        ) AS beside
        WHERE line.subscription_id = own.id AND ${rowIsOfEnvironment('line')}
          AND coalesce(beside.end_date, 'infinity') > coalesce(line.start_date, own.start_date)
          AND coalesce(line.end_date, 'infinity') > coalesce(beside.start_date, other.start_date)
        OFFSET 0
      ) AS shared
      JOIN meters AS meter ON meter.id = shared.meter_id AND ${rowIsOfEnvironment('meter')}
      WHERE own.id = ${subscriptionId} AND ${rowIsOfEnvironment('own')}
      GROUP BY other.id ORDER BY other.id LIMIT ${NAMED_MAX}`);
  return rows.map(
    ({ id, metered }) =>
      `subscription ${id} of this customer bills the usage of ${metered} as well`,
  );
}
