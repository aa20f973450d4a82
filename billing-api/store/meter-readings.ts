import { sql } from 'slonik';
import { z } from 'zod';
import type { MeterFilter } from '../../contract/meter.js';
import type { Environment } from '../../contract/environment.js';
import { meterFiltersColumn } from '../../sql/columns.js';
import type { BillingDatabase } from './transaction.js';

/** What readers of a meter must ask the usage tables for, as of now. */
export type MeterReading = {
  readonly meterId: string;
  readonly version: number;
  readonly eventName: string;
  readonly filters: readonly MeterFilter[];
  readonly resetUsage: 'BILLING_PERIOD' | 'NEVER';
  /** The sets of minute rows to add up; none while the meter is being applied to stored events. */
  readonly generations: readonly number[];
};

const readingRow = z.object({
  meter_id: z.string(),
  version: z.number().int(),
  event_name: z.string(),
  filters: meterFiltersColumn,
  reset_usage: z.enum(['BILLING_PERIOD', 'NEVER']),
  generations: z.array(z.string().transform(Number)),
});

/** The definitions in force of these meters, with the pointer to their rows as of now. */
export async function findMeterReadings(
  database: BillingDatabase,
  environment: Environment,
  meterIds: readonly string[],
): Promise<ReadonlyMap<string, MeterReading>> {
  if (meterIds.length === 0) return new Map();
  const rows = await database.slonik.any(sql.type(readingRow)`
    SELECT v.meter_id, v.version, v.event_name, v.filters, meters.reset_usage,
      v.read_generations::text[] AS generations
    FROM meter_versions v JOIN meters ON meters.id = v.meter_id
    WHERE v.meter_id = ANY (${sql.array([...new Set(meterIds)], 'text')})
      AND v.tenant_id = ${environment.tenantId} AND v.environment_id = ${environment.environmentId}
      AND v.retired_in IS NULL`);
  return new Map(
    rows.map((row) => [
      row.meter_id,
      {
        meterId: row.meter_id,
        version: row.version,
        eventName: row.event_name,
        filters: row.filters,
        resetUsage: row.reset_usage,
        generations: row.generations,
      },
    ]),
  );
}
