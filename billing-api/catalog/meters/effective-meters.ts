import { sql } from 'slonik';
import { z } from 'zod';
import type { MeterAggregation } from '../../../contract/aggregation.js';
import type { Environment } from '../../../contract/environment.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { meterFiltersColumn } from '../../../sql/columns.js';
import { aggregationColumns, aggregationFromRow } from '../../../sql/meter-aggregation.js';
import type { EventCorrection } from '../../domain/usage/event-correction.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import { METERS, type MeterRow } from '../../declarations/catalog/meter.resource.js';
import type { BillingDatabase, Transaction } from '../../records/unit.js';

/**
 * A meter as its readers must read it now. All members belong to one version, so reading minutes
 * and events by the same value never mixes two definitions.
 */
export type EffectiveMeter = {
  readonly meterId: string;
  /** The version that readers see: during a change's backfill, the one before the change. */
  readonly version: number;
  readonly eventName: string;
  readonly filters: readonly MeterFilter[];
  readonly aggregation: MeterAggregation;
  readonly bucketSize: MeterRow['bucket_size'];
  readonly resetUsage: 'BILLING_PERIOD' | 'NEVER';
  /** The sets of minute rows to add up; none while the meter is being applied to stored events. */
  readonly generations: readonly number[];
  /**
   * Of an archived meter: the only partitions that it counts, and how far; events read themselves
   * must keep to it. Null for a meter that goes on counting.
   */
  readonly ends: readonly PartitionEnd[] | null;
  /** Corrections of its events that are in force. */
  readonly corrections: readonly EventCorrection[];
};

const { bucket_size: bucketSize, reset_usage: resetUsage } = METERS.columns;
/** What list_event_corrections answers of an event name. */
export const eventCorrectionsColumn = z.array(
  z.object({ id: z.string(), number: z.number(), startMs: z.number(), endMs: z.number() }),
);

/** A row of read_effective_meters. */
export const effectiveRow = z.object({
  meter_id: z.string(),
  version: z.number().int(),
  event_name: z.string(),
  filters: meterFiltersColumn,
  ...aggregationColumns,
  bucket_size: bucketSize.schema,
  reset_usage: resetUsage.schema,
  generations: z.array(z.string().transform(Number)),
  ends: z
    .array(z.object({ log: z.string(), partition: z.number(), countedBelow: z.number() }))
    .nullable(),
  corrections: eventCorrectionsColumn,
});

function meterFromRow(row: z.output<typeof effectiveRow>): EffectiveMeter {
  return {
    meterId: row.meter_id,
    version: row.version,
    eventName: row.event_name,
    filters: row.filters,
    aggregation: aggregationFromRow(row),
    bucketSize: row.bucket_size,
    resetUsage: row.reset_usage,
    generations: row.generations,
    ends: row.ends,
    corrections: row.corrections,
  };
}

export function effectiveMetersFrom(
  rows: readonly z.output<typeof effectiveRow>[],
): ReadonlyMap<string, EffectiveMeter> {
  return new Map(rows.map((row) => [row.meter_id, meterFromRow(row)]));
}

/** These meters as their readers must read them, with their generations, from one statement. */
export async function findEffectiveMeters(
  transaction: Pick<Transaction, 'any'>,
  meterIds: readonly string[],
): Promise<ReadonlyMap<string, EffectiveMeter>> {
  if (meterIds.length === 0) return new Map();
  const rows = await transaction.any(sql.type(effectiveRow)`
    SELECT * FROM read_effective_meters(${sql.array([...new Set(meterIds)], 'text')})`);
  return effectiveMetersFrom(rows);
}

/** The same in a snapshot of its own, for who reads nothing else of PostgreSQL. */
export function readEffectiveMeters(
  database: BillingDatabase,
  environment: Environment,
  meterIds: readonly string[],
): Promise<ReadonlyMap<string, EffectiveMeter>> {
  return database.readSnapshot(environment, (transaction) =>
    findEffectiveMeters(transaction, meterIds),
  );
}
