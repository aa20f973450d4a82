import { sql } from 'slonik';
import { z } from 'zod';
import { isOfEnvironment, isOneOf } from '../../records/conditions.js';
import { findPublished, findRecords } from '../../records/find-record.js';
import type { Transaction } from '../../records/unit.js';
import { FEATURES, type FeatureRow } from '../../declarations/catalog/feature.resource.js';

/** The features with these ids, whatever their status; unknown ids are left out. */
export function findFeatures(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FeatureRow>> {
  return findRecords({ tx: transaction }, FEATURES, ids);
}

/** The published features of these meters, oldest first. */
export async function findFeaturesOfMeters(
  transaction: Transaction,
  meterIds: readonly string[],
): Promise<readonly FeatureRow[]> {
  if (meterIds.length === 0) return [];
  return findPublished({ tx: transaction }, FEATURES, isOneOf('meter_id', meterIds));
}

/** Those of the ids that no feature has. */
export async function findUnknownFeatureIds(
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = await transaction.any(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM unnest(${sql.array([...ids], 'text')}) AS given (id)
    WHERE NOT EXISTS (
      SELECT FROM features WHERE features.id = given.id AND ${isOfEnvironment})`);
  return rows.map((row) => row.id);
}
