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
      JOIN subscription_line_items AS line
        ON line.subscription_id = own.id AND ${rowIsOfEnvironment('line')}
      JOIN subscriptions AS other
        ON other.customer_id = own.customer_id AND other.id <> own.id
        AND ${rowIsIn(['other', 'subscription_status'], SUBSCRIPTION, 'alive')}
        AND ${rowIsOfEnvironment('other')}
      JOIN subscription_line_items AS beside
        ON beside.subscription_id = other.id AND beside.meter_id = line.meter_id
        AND ${rowIsOfEnvironment('beside')}
        AND coalesce(beside.end_date, 'infinity') > coalesce(line.start_date, own.start_date)
        AND coalesce(line.end_date, 'infinity') > coalesce(beside.start_date, other.start_date)
      JOIN meters AS meter ON meter.id = line.meter_id AND ${rowIsOfEnvironment('meter')}
      WHERE own.id = ${subscriptionId} AND ${rowIsOfEnvironment('own')}
      GROUP BY other.id ORDER BY other.id LIMIT ${NAMED_MAX}`);
  return rows.map(
    ({ id, metered }) =>
      `subscription ${id} of this customer bills the usage of ${metered} as well`,
  );
}
