import type { Occasion } from '../records/occasion.js';
import {
  changeRecord,
  notReferenced,
  removeRecord,
  type ChangeTarget,
} from '../records/change-record.js';
import { isPublished } from '../records/conditions.js';
import { createRecord } from '../records/create-record.js';
import { readRecord } from '../records/find-record.js';
import { isRefusal, Refusal } from '../records/refusal.js';
import { searchRecords, type Page } from '../records/search-records.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../records/unit.js';
import { changedTaxRate, changesValue, newTaxRate } from './tax-rate-rules.js';
import {
  TAX_RATES,
  type ChangeTaxRateBody,
  type CreateTaxRateBody,
  type TaxRateRow,
} from '../declarations/taxes/tax-rate.resource.js';

/** POST /taxes/rates. */
export async function createTaxRate(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateTaxRateBody,
): Promise<TaxRateRow | Refusal> {
  const rate = newTaxRate(body);
  if (isRefusal(rate)) return rate;
  return writeUnit(dependencies, occasion, (unit) => createRecord(unit, TAX_RATES, rate));
}

/** GET /taxes/rates/{id}, whatever its status. */
export function readTaxRate(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<TaxRateRow | Refusal> {
  return readUnit(dependencies, occasion, (unit) => readRecord(unit, TAX_RATES, id));
}

/** GET /taxes/rates. */
export function listTaxRates(
  dependencies: ReadDependencies,
  occasion: Occasion,
  request: SearchBodyRequest,
): Promise<Page<TaxRateRow> | Refusal> {
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, TAX_RATES, { request, conditions: [] }),
  );
}

/** What a rate takes stays what it is while it is associated with anything (docs/domain.md 4). */
const notAssociated = notReferenced(
  { table: 'tax_associations', column: 'tax_rate_id', having: isPublished },
  'has associations',
);

/** PUT /taxes/rates/{id}. */
export async function changeTaxRate(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeTaxRateBody },
): Promise<TaxRateRow | Refusal> {
  const patch = changedTaxRate(body);
  if (isRefusal(patch)) return patch;
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, TAX_RATES, {
      target,
      change: async (row) => {
        if (!changesValue(row, patch)) return patch;
        const problem = await notAssociated(unit, row.id);
        if (problem === null) return patch;
        const remedy = 'make a rate with the new value, or delete its associations first';
        return new Refusal('invalid_operation', `the tax rate ${problem}; ${remedy}`);
      },
    }),
  );
}

/** DELETE /taxes/rates/{id}. */
export function archiveTaxRate(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<TaxRateRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) =>
    removeRecord(unit, TAX_RATES, { id, guards: [notAssociated] }),
  );
}
