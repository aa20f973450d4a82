import { sql } from 'slonik';
import { z } from 'zod';
import { recordColumns } from '../../records/records.js';
import { RECORD_MEMBERS } from '../../records/search-table.js';
import type { Transaction } from '../../records/unit.js';

const alertLevel = z.object({ condition: z.enum(['above', 'below']), threshold: z.number() });

const featureRow = z.object({
  ...recordColumns,
  name: z.string(),
  description: z.string().nullable(),
  lookup_key: z.string(),
  type: z.enum(['metered', 'boolean', 'static']),
  meter_id: z.string().nullable(),
  group_id: z.string().nullable(),
  unit_singular: z.string().nullable(),
  unit_plural: z.string().nullable(),
  reporting_unit: z
    .object({ conversion_rate: z.number(), unit_singular: z.string(), unit_plural: z.string() })
    .nullable(),
  alert_settings: z
    .object({
      alert_enabled: z.boolean(),
      critical: alertLevel.nullable(),
      warning: alertLevel.nullable(),
      info: alertLevel.nullable(),
    })
    .nullable(),
});
export type FeatureRow = z.output<typeof featureRow>;

export const FEATURES = {
  name: 'features',
  row: featureRow,
  members: {
    ...RECORD_MEMBERS,
    name: 'string',
    description: 'string',
    lookup_key: 'string',
    type: 'string',
    meter_id: 'string',
    group_id: 'string',
    unit_singular: 'string',
    unit_plural: 'string',
  },
} as const;

export async function findFeature(
  transaction: Transaction,
  id: string,
): Promise<FeatureRow | null> {
  return transaction.maybeOne(sql.type(featureRow)`SELECT * FROM features WHERE id = ${id}`);
}

/** The features with these ids, whatever their status; unknown ids are left out. */
export async function findFeatures(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FeatureRow>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(featureRow)`
    SELECT * FROM features WHERE id = ANY (${sql.array([...new Set(ids)], 'text')})`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The published features of these meters, oldest first. */
export async function findFeaturesOfMeters(
  transaction: Transaction,
  meterIds: readonly string[],
): Promise<readonly FeatureRow[]> {
  if (meterIds.length === 0) return [];
  return transaction.any(sql.type(featureRow)`
    SELECT * FROM features
    WHERE meter_id = ANY (${sql.array([...meterIds], 'text')}) AND status = 'published'
    ORDER BY created_at, id`);
}

/** Those of the ids that no feature has. */
export async function findUnknownFeatureIds(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = await transaction.any(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM unnest(${sql.array([...ids], 'text')}) AS given (id)
    WHERE NOT EXISTS (SELECT FROM features WHERE features.id = given.id)`);
  return rows.map((row) => row.id);
}
