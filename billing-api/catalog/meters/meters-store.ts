import { sql } from 'slonik';
import { z } from 'zod';
import type { MeterAggregation } from '../../../contract/aggregation.js';
import { integerColumn, meterFiltersColumn } from '../../../sql/columns.js';
import { aggregationColumns, aggregationFromRow } from '../../../sql/meter-aggregation.js';
import { insertRows, recordColumns, type NewRow } from '../../records/records.js';
import { RECORD_MEMBERS } from '../../records/search-table.js';
import type { Transaction } from '../../records/unit.js';

const backfillColumn = z.object({
  status: z.enum(['none', 'running', 'completed', 'failed']),
  events_scanned: z.number().int(),
  events_matched: z.number().int(),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  error: z.string().nullable(),
});

/** Of a meter that no event had come before. */
const NO_BACKFILL: z.output<typeof backfillColumn> = {
  status: 'none',
  events_scanned: 0,
  events_matched: 0,
  started_at: null,
  completed_at: null,
  error: null,
};

const meterRow = z.object({
  ...recordColumns,
  name: z.string(),
  event_name: z.string(),
  filters: meterFiltersColumn,
  ...aggregationColumns,
  bucket_size: z
    .enum(['MINUTE', '15MIN', '30MIN', 'HOUR', '3HOUR', '6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'])
    .nullable(),
  reset_usage: z.enum(['BILLING_PERIOD', 'NEVER']),
  version: z.number().int(),
  backfill: backfillColumn.nullable().transform((backfill) => backfill ?? NO_BACKFILL),
});
export type MeterRow = z.output<typeof meterRow>;

export const METERS = {
  name: 'meters',
  row: meterRow,
  members: {
    ...RECORD_MEMBERS,
    name: 'string',
    event_name: 'string',
    reset_usage: 'string',
    version: 'number',
  },
} as const;

/** What events are counted by: of a COUNT neither field nor expression, which are only kept. */
function countedAggregation(meter: MeterRow): MeterAggregation {
  const aggregation = aggregationFromRow(meter);
  return aggregation.type === 'COUNT'
    ? { ...aggregation, field: null, expression: null }
    : aggregation;
}

/**
 * Stores a new meter and puts its first definition in force in the same transaction
 * (architecture.md 3.2), so that a meter which can be read is always one that is counted.
 */
export async function insertMeter(transaction: Transaction, row: NewRow): Promise<MeterRow | null> {
  const rows = [{ ...row, read_version: row['version'] }];
  const [meter] = await insertRows(transaction, METERS, rows);
  return meter === undefined ? null : activateDefinition(transaction, meter);
}

/** Puts the definition that the row holds in force; the row again, with its backfill. */
export async function activateDefinition(
  transaction: Transaction,
  meter: MeterRow,
): Promise<MeterRow | null> {
  await transaction.one(sql.type(z.object({ catalog: integerColumn }))`
    SELECT activate_meter_version(
      ${meter.id}, ${meter.version}, ${meter.tenant_id}, ${meter.environment_id},
      ${meter.event_name}, ${JSON.stringify(meter.filters)}::jsonb,
      ${JSON.stringify(countedAggregation(meter))}::jsonb) AS catalog`);
  return findMeter(transaction, meter.id);
}

/** The meters with these ids, whatever their status; unknown ids are left out. */
export async function findMeters(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MeterRow>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(meterRow)`
    SELECT * FROM meters WHERE id = ANY (${sql.array([...new Set(ids)], 'text')})`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** As `findMeters`; until the transaction ends nobody can archive one that it found. */
export async function findMetersForUse(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MeterRow>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(meterRow)`
    SELECT * FROM meters WHERE id = ANY (${sql.array([...new Set(ids)], 'text')})
    ORDER BY id FOR KEY SHARE`);
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findMeter(transaction: Transaction, id: string): Promise<MeterRow | null> {
  return transaction.maybeOne(sql.type(meterRow)`SELECT * FROM meters WHERE id = ${id}`);
}
