import { markRemoved } from '../records/change-record.js';
import { createRecords } from '../records/create-record.js';
import type { MemberReader } from '../records/member-rules.js';
import type { TaxRateOverrideBody } from '../declarations/taxes/tax-override-body.js';
import { accept, collect, notFound } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import {
  PRIORITY_DEFAULT,
  TAX_ASSOCIATIONS,
  type NewTaxAssociation,
  type TaxAssociationRow,
} from '../declarations/taxes/tax-association.resource.js';
import { holdTaxRatesByCode, lockTaxesOf, type TaxedEntity } from './taxes-store.js';

/** A tax rate that a request puts on the record that it makes or changes. */
export type TaxOverride = {
  readonly code: string;
  readonly priority: number;
  readonly currency: string | null;
};

/** Reads `tax_rate_overrides`; a rate stands there once for each currency. */
export function readTaxOverrides(
  reader: MemberReader,
  bodies: readonly TaxRateOverrideBody[] = [],
): readonly TaxOverride[] {
  const seen = new Set<string>();
  return bodies.map(({ tax_rate_code: code, priority, currency: given }, index) => {
    const place = `tax_rate_overrides.${index}`;
    const currency = given === undefined ? null : reader.currency(`${place}.currency`, given);
    const key = JSON.stringify([code, currency]);
    if (seen.has(key)) reader.note(`${place}.tax_rate_code`, 'must not be given twice');
    seen.add(key);
    return { code, priority: priority ?? PRIORITY_DEFAULT, currency };
  });
}

async function newAssociations(
  unit: Unit,
  { type, id }: TaxedEntity,
  overrides: readonly TaxOverride[],
): Promise<readonly NewTaxAssociation[]> {
  const codes = overrides.map(({ code }) => code);
  const rates = await holdTaxRatesByCode(unit, codes);
  return accept(
    collect({ items: overrides, isBulk: false }, ({ code, priority, currency }) => {
      const rate = rates.get(code);
      if (rate === undefined) return notFound('tax rate', code);
      return {
        tax_rate_id: rate.id,
        entity_type: type,
        entity_id: id,
        priority,
        currency,
        auto_apply: true,
        start_date: null,
        end_date: null,
      };
    }),
  );
}

/** Gives a customer or subscription more tax rates. */
export async function storeTaxOverrides(
  unit: Unit,
  entity: TaxedEntity,
  overrides: readonly TaxOverride[],
): Promise<readonly TaxAssociationRow[]> {
  const items = await newAssociations(unit, entity, overrides);
  return createRecords(unit, TAX_ASSOCIATIONS, { items, isBulk: false });
}

/** The members that say when and how a rate of an entity is taken. */
const TERMS = [
  'tax_rate_id',
  'priority',
  'currency',
  'auto_apply',
  'start_date',
  'end_date',
] as const;

/** Whether an association does already what an override asks for. */
function isAlike(row: TaxAssociationRow, wanted: NewTaxAssociation): boolean {
  return TERMS.every((member) => row[member] === wanted[member]);
}

/**
 * Gives a customer these tax rates in place of all that it has; the record of the customer must be
 * locked. Associations that are asked for again stay, all others are archived.
 */
export async function replaceTaxOverrides(
  unit: Unit,
  entity: TaxedEntity,
  overrides: readonly TaxOverride[],
): Promise<void> {
  const wanted = await newAssociations(unit, entity, overrides);
  const present = await lockTaxesOf(unit, entity);
  const kept = new Map(wanted.map((item) => [item, present.find((row) => isAlike(row, item))]));
  const keptRows = new Set(kept.values());
  for (const row of present) {
    if (keptRows.has(row)) continue;
    await markRemoved(unit, TAX_ASSOCIATIONS, row);
  }
  const items = wanted.filter((item) => kept.get(item) === undefined);
  await createRecords(unit, TAX_ASSOCIATIONS, { items, isBulk: false });
}
