import { isEqual } from '../records/conditions.js';
import { listRequestFrom, type ListQuery } from '../records/list-request.js';
import type { Occasion } from '../records/occasion.js';
import { changeRecord, removeRecord, type ChangeTarget } from '../records/change-record.js';
import { createRecord } from '../records/create-record.js';
import { readRecord } from '../records/find-record.js';
import { endProblem, givenOf, MemberReader } from '../records/member-rules.js';
import { invalid, isRefusal, notFound, type Refusal, Refused } from '../records/refusal.js';
import { searchRecords, type Page } from '../records/search-records.js';
import { readOperation, writeOperation } from '../records/operation.js';
import { writeUnit, type WriteDependencies } from '../records/unit.js';
import {
  PRIORITY_DEFAULT,
  TAX_ASSOCIATIONS,
  withTaxRate,
  withTaxRates,
  type AssociatedTax,
  type ChangeTaxAssociationBody,
  type CreateTaxAssociationBody,
  type TaxAssociationDto,
} from '../declarations/taxes/tax-association.resource.js';
import { holdTaxedEntity, readTaxedEntity } from './taxed-entity.js';
import { holdTaxRatesByCode } from './taxes-store.js';

function readAssociation(body: CreateTaxAssociationBody) {
  const reader = new MemberReader();
  const named = readTaxedEntity(reader, body);
  const start = reader.instant('start_date', body.start_date);
  const end = reader.instant('end_date', body.end_date);
  reader.note('end_date', endProblem('start_date', start, end));
  const columns = {
    priority: body.priority ?? PRIORITY_DEFAULT,
    currency: body.currency === undefined ? null : reader.currency('currency', body.currency),
    auto_apply: body.auto_apply ?? true,
    start_date: start,
    end_date: end,
    metadata: { ...reader.metadata(body.metadata) },
  };
  return reader.refusal() ?? { named, columns };
}

/** POST /taxes/associations. */
export async function createTaxAssociation(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateTaxAssociationBody,
): Promise<AssociatedTax | Refusal> {
  const read = readAssociation(body);
  if (isRefusal(read)) return read;
  const { named, columns } = read;
  return writeUnit(dependencies, occasion, async (unit) => {
    const entity = await holdTaxedEntity(unit, named);
    const code = body.tax_rate_code;
    const rate = (await holdTaxRatesByCode(unit, [code])).get(code);
    if (rate === undefined) throw new Refused(notFound('tax rate', code));
    const target = { tax_rate_id: rate.id, entity_type: entity.type, entity_id: entity.id };
    const association = await createRecord(unit, TAX_ASSOCIATIONS, { ...target, ...columns });
    return { association, rate };
  });
}

/** GET /taxes/associations/{id}, whatever its status. */
export const readTaxAssociation = readOperation(
  async (unit, id: string): Promise<AssociatedTax> => {
    const row = await readRecord(unit, TAX_ASSOCIATIONS, id);
    return withTaxRate(unit, row);
  },
);

export interface TaxAssociationsQuery extends ListQuery {
  entity_type?: TaxAssociationDto['entity_type'];
  entity_id?: string;
  tax_rate_id?: string;
}

/** GET /taxes/associations. */
export const listTaxAssociations = readOperation(
  async (unit, query: TaxAssociationsQuery): Promise<Page<AssociatedTax>> => {
    const request = listRequestFrom(query);
    const conditions = [
      ...isEqual('entity_type', query.entity_type),
      ...isEqual('entity_id', query.entity_id),
      ...isEqual('tax_rate_id', query.tax_rate_id),
    ];
    const page = await searchRecords(unit, TAX_ASSOCIATIONS, { request, conditions });
    return { ...page, items: await withTaxRates(unit, page.items) };
  },
);

function readChange(body: ChangeTaxAssociationBody) {
  const reader = new MemberReader();
  const patch = givenOf({
    priority: body.priority,
    auto_apply: body.auto_apply,
    end_date: reader.changedInstant('end_date', body.end_date),
    metadata: reader.changedMetadata(body.metadata),
  });
  return reader.refusal() ?? patch;
}

/** PUT /taxes/associations/{id}. */
export async function changeTaxAssociation(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeTaxAssociationBody },
): Promise<AssociatedTax | Refusal> {
  const patch = readChange(body);
  if (isRefusal(patch)) return patch;
  return writeUnit(dependencies, occasion, async (unit) => {
    const changed = await changeRecord(unit, TAX_ASSOCIATIONS, {
      target,
      change: ({ start_date: start }) => {
        const problem = endProblem('start_date', start, patch.end_date ?? null);
        return problem === null ? patch : invalid({ end_date: problem });
      },
    });
    return withTaxRate(unit, changed);
  });
}

/** DELETE /taxes/associations/{id}. */
export const archiveTaxAssociation = writeOperation(
  async (unit, id: string): Promise<AssociatedTax> => {
    const removed = await removeRecord(unit, TAX_ASSOCIATIONS, { id, guards: [] });
    return withTaxRate(unit, removed);
  },
);
