import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { meterMatches } from '../../contract/meter.js';
import type { StoredEvent } from './events-store.js';
import { findEffectiveMeters, type EffectiveMeter } from '../catalog/meters/effective-meters.js';
import { isOfEnvironment } from '../records/conditions.js';
import type { BillingDatabase } from '../records/unit.js';

/**
 * What the meters of an environment count now, of one event name or of all; an archived meter
 * counts up to where it ended.
 */
export async function findCountingMeters(
  database: BillingDatabase,
  environment: Environment,
  eventName: string | null,
): Promise<readonly EffectiveMeter[]> {
  return database.readSnapshot(environment, async (transaction) => {
    const meters = await transaction.any(sql.type(z.object({ id: z.string() }))`
      SELECT id FROM meters
      WHERE ${isOfEnvironment} AND status <> 'deleted'
        AND (${eventName}::text IS NULL OR event_name = ${eventName})
      ORDER BY created_at, id`);
    const ids = meters.map(({ id }) => id);
    const readings = await findEffectiveMeters(transaction, ids);
    return ids.flatMap((id) => readings.get(id) ?? []);
  });
}

/** Whether a meter counts an event: it matches, and the meter had not ended before it. */
export function countsEvent(meter: EffectiveMeter, event: StoredEvent): boolean {
  if (!meterMatches(meter, event)) return false;
  if (meter.ends === null) return true;
  const { logId, partition, offset } = event.position;
  return meter.ends.some(
    (end) => end.log === logId && end.partition === partition && offset < end.countedBelow,
  );
}
