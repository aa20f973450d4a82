import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { instantColumn, integerColumn, noRows, numericColumn } from '../../../sql/columns.js';
import { insertRows, recordColumns, type NewRow } from '../../records/records.js';
import { RECORD_MEMBERS } from '../../records/search-table.js';
import { textKeyed } from '../../records/columns.js';
import type { Transaction } from '../../records/unit.js';

const tierColumn = z.object({
  unit_amount: z.string(),
  flat_amount: z.string().nullable(),
  up_to: z.number().int().nullable(),
});
export type TierColumn = z.output<typeof tierColumn>;

const timeOfDay = z.object({ hour: z.number().int(), minute: z.number().int() });
const timeBucketColumn = z.object({
  id: z.string(),
  start: timeOfDay,
  end: timeOfDay,
  commitment_type: z.enum(['amount', 'quantity']),
  commitment_value: z.string(),
  /** At least 1, as the request gave it. */
  overage_factor: z.number(),
  true_up_enabled: z.boolean(),
  price_id: z.string(),
});
/** Hours of the day with a commitment and a price of their own (domain.md 11.5). */
export type TimeBucketColumn = z.output<typeof timeBucketColumn>;

const priceRow = z.object({
  ...recordColumns,
  entity_type: z.enum(['PLAN', 'ADDON', 'SUBSCRIPTION']),
  entity_id: z.string(),
  type: z.enum(['USAGE', 'FIXED']),
  billing_model: z.enum(['FLAT_FEE', 'PACKAGE', 'TIERED']),
  billing_cadence: z.enum(['RECURRING', 'ONETIME']),
  billing_period: z.enum([
    'DAILY',
    'WEEKLY',
    'MONTHLY',
    'QUARTERLY',
    'HALF_YEARLY',
    'ANNUAL',
    'ONETIME',
  ]),
  billing_period_count: z.number().int(),
  invoice_cadence: z.enum(['ARREAR', 'ADVANCE']),
  amount: numericColumn.nullable(),
  currency: z.string(),
  meter_id: z.string().nullable(),
  filter_values: textKeyed(z.array(z.string())).nullable(),
  tier_mode: z.enum(['VOLUME', 'SLAB']).nullable(),
  tiers: z.array(tierColumn).nullable(),
  transform_quantity: z
    .object({ divide_by: z.number().int(), round: z.enum(['up', 'down']) })
    .nullable(),
  min_quantity: numericColumn.nullable(),
  trial_period_days: z.number().int().nullable(),
  display_name: z.string().nullable(),
  description: z.string().nullable(),
  lookup_key: z.string().nullable(),
  parent_price_id: z.string().nullable(),
  group_id: z.string().nullable(),
  price_unit_type: z.enum(['FIAT', 'CUSTOM']),
  price_unit: z.string().nullable(),
  price_unit_id: z.string().nullable(),
  price_unit_amount: numericColumn.nullable(),
  price_unit_tiers: z.array(tierColumn).nullable(),
  conversion_rate: numericColumn.nullable(),
  commitment_time_buckets: z.array(timeBucketColumn).nullable(),
  sequence: z.number().int(),
  start_date: instantColumn,
  end_date: instantColumn.nullable(),
});
export type PriceRow = z.output<typeof priceRow>;

export const PRICES = {
  name: 'prices',
  row: priceRow,
  members: {
    ...RECORD_MEMBERS,
    type: 'string',
    billing_model: 'string',
    billing_cadence: 'string',
    billing_period: 'string',
    billing_period_count: 'number',
    invoice_cadence: 'string',
    amount: 'number',
    currency: 'string',
    display_name: 'string',
    description: 'string',
    lookup_key: 'string',
    min_quantity: 'number',
    trial_period_days: 'number',
    sequence: 'number',
    start_date: 'date',
    end_date: 'date',
    parent_price_id: 'string',
    entity_type: 'string',
    entity_id: 'string',
    group_id: 'string',
    meter_id: 'string',
    tier_mode: 'string',
    price_unit: 'string',
    price_unit_id: 'string',
    price_unit_amount: 'number',
    conversion_rate: 'number',
    price_unit_type: 'string',
  },
} as const;

export async function findPrice(transaction: Transaction, id: string): Promise<PriceRow | null> {
  return transaction.maybeOne(sql.type(priceRow)`SELECT * FROM prices WHERE id = ${id}`);
}

/** The published price with this lookup key. */
export async function findPriceByLookupKey(
  transaction: Transaction,
  lookupKey: string,
): Promise<PriceRow | null> {
  return transaction.maybeOne(sql.type(priceRow)`
    SELECT * FROM prices WHERE lookup_key = ${lookupKey} AND status = 'published'`);
}

export async function findPrices(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PriceRow>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(priceRow)`
    SELECT * FROM prices WHERE id = ANY (${sql.array([...new Set(ids)], 'text')})`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Published prices of these owners that have not ended at `now` (domain.md 9.4), oldest first. */
export async function findLivePrices(
  transaction: Transaction,
  owners: { readonly entityIds: readonly string[]; readonly now: InstantMs },
): Promise<readonly PriceRow[]> {
  if (owners.entityIds.length === 0) return [];
  return transaction.any(sql.type(priceRow)`
    SELECT * FROM prices
    WHERE entity_id = ANY (${sql.array([...owners.entityIds], 'text')}) AND status = 'published'
      AND (end_date IS NULL OR end_date > ${formatInstant(owners.now)}::timestamptz)
    ORDER BY created_at, sequence`);
}

/** How many live prices each of these owners has; owners without one are left out. */
export async function countLivePrices(
  transaction: Transaction,
  owners: { readonly entityIds: readonly string[]; readonly now: InstantMs },
): Promise<ReadonlyMap<string, number>> {
  const rows = await transaction.any(sql.type(
    z.object({ entity_id: z.string(), live: integerColumn }),
  )`
    SELECT entity_id, count(*) AS live FROM prices
    WHERE entity_id = ANY (${sql.array([...owners.entityIds], 'text')}) AND status = 'published'
      AND (end_date IS NULL OR end_date > ${formatInstant(owners.now)}::timestamptz)
    GROUP BY entity_id`);
  return new Map(rows.map((row) => [row.entity_id, row.live]));
}

/**
 * Stores prices of plans that the transaction has locked, and moves the plans' sequences on. Rows
 * that would repeat a lookup key are left out of the result.
 */
export async function insertPlanPrices(
  transaction: Transaction,
  rows: readonly NewRow[],
  sequences: ReadonlyMap<string, number>,
): Promise<readonly PriceRow[]> {
  const inserted = await insertRows(transaction, PRICES, rows);
  for (const [planId, sequence] of sequences) {
    await transaction.query(sql.type(noRows)`
      UPDATE plans SET price_sequence = ${sequence} WHERE id = ${planId}`);
  }
  return inserted;
}
