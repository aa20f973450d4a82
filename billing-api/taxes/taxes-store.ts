import { sql } from 'slonik';
import { isOfEnvironment } from '../records/conditions.js';
import type { ReadUnit, Unit } from '../records/unit.js';
import {
  TAX_ASSOCIATIONS,
  withTaxRates,
  type AssociatedTax,
  type TaxAssociationRow,
} from '../declarations/taxes/tax-association.resource.js';
import { TAX_RATES, type TaxRateRow } from '../declarations/taxes/tax-rate.resource.js';

/**
 * The published tax rates with these codes, by code. They stay as they are until the unit ends:
 * nobody archives one or changes its value while it gets an association.
 */
export async function holdTaxRatesByCode(
  { tx }: Unit,
  codes: readonly string[],
): Promise<ReadonlyMap<string, TaxRateRow>> {
  if (codes.length === 0) return new Map();
  const rows = await tx.any(sql.type(TAX_RATES.row)`
    SELECT * FROM tax_rates
    WHERE code = ANY (${sql.array([...new Set(codes)], 'text')}) AND status = 'published'
      AND ${isOfEnvironment}
    ORDER BY id FOR SHARE`);
  return new Map(rows.map((row) => [row.code, row]));
}

/** What tax associations can belong to. */
export type TaxedEntity = {
  readonly type: 'tenant' | 'customer' | 'subscription' | 'invoice';
  readonly id: string;
};

/** The published associations of these entities, oldest first, with their rates. */
export async function findTaxesOf(
  unit: ReadUnit,
  entities: readonly TaxedEntity[],
): Promise<readonly AssociatedTax[]> {
  const types = entities.map(({ type }) => type);
  const ids = entities.map(({ id }) => id);
  const rows = await unit.tx.any(sql.type(TAX_ASSOCIATIONS.row)`
    SELECT * FROM tax_associations
    WHERE (entity_type, entity_id) IN (
        SELECT * FROM unnest(${sql.array(types, 'text')}, ${sql.array(ids, 'text')}))
      AND status = 'published' AND ${isOfEnvironment}
    ORDER BY created_at, id`);
  return withTaxRates(unit, rows);
}

/** The published associations of an entity, locked: nobody else changes or archives them. */
export async function lockTaxesOf(
  { tx }: Unit,
  { type, id }: TaxedEntity,
): Promise<readonly TaxAssociationRow[]> {
  return tx.any(sql.type(TAX_ASSOCIATIONS.row)`
    SELECT * FROM tax_associations
    WHERE entity_type = ${type} AND entity_id = ${id} AND status = 'published'
      AND ${isOfEnvironment}
    ORDER BY id FOR UPDATE`);
}
