import { plain } from '../../../contract/decimal.js';
import type { Occasion } from '../../records/occasion.js';
import {
  changeRecord,
  notReferenced,
  removeRecord,
  type ChangeTarget,
} from '../../records/change-record.js';
import { isEqual, isOneOf } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { findPublished, readRecord } from '../../records/find-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { notFound, type Refusal } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import type { SearchBodyRequest } from '../../records/search-request.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import {
  PRICE_UNITS,
  type ChangePriceUnitBody,
  type CreatePriceUnitBody,
  type PriceUnitRow,
  type SearchPriceUnitsBody,
} from '../../declarations/catalog/price-unit.resource.js';

/** POST /prices/units. */
export async function createPriceUnit(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreatePriceUnitBody,
): Promise<PriceUnitRow | Refusal> {
  const reader = new MemberReader();
  const rate = reader.positive('conversion_rate', body.conversion_rate);
  const priceUnit = {
    name: reader.name('name', body.name),
    code: body.code,
    symbol: reader.name('symbol', body.symbol),
    base_currency: reader.currency('base_currency', body.base_currency),
    conversion_rate: rate === null ? '' : plain(rate),
    metadata: reader.metadata(body.metadata),
  };
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, (unit) => createRecord(unit, PRICE_UNITS, priceUnit));
}

/** GET /prices/units/{id}, whatever its status. */
export function readPriceUnit(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<PriceUnitRow | Refusal> {
  return readUnit(dependencies, occasion, (unit) => readRecord(unit, PRICE_UNITS, id));
}

/** GET /prices/units/code/{code}: the published unit with this code. */
export function readPriceUnitByCode(
  dependencies: ReadDependencies,
  occasion: Occasion,
  code: string,
): Promise<PriceUnitRow | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const [found] = await findPublished(unit, PRICE_UNITS, isEqual('code', code));
    return found ?? notFound('price unit', code);
  });
}

/** GET /prices/units and POST /prices/units/search. */
export function searchPriceUnits(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchBodyRequest & Pick<SearchPriceUnitsBody, 'price_unit_ids'>,
): Promise<Page<PriceUnitRow> | Refusal> {
  const conditions = isOneOf('id', body.price_unit_ids);
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, PRICE_UNITS, { request: body, conditions }),
  );
}

/** PUT /prices/units/{id}. */
export async function changePriceUnit(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangePriceUnitBody },
): Promise<PriceUnitRow | Refusal> {
  const reader = new MemberReader();
  const patch = givenOf({
    name: reader.changedName('name', body.name),
    symbol: reader.changedName('symbol', body.symbol),
    metadata: reader.changedMetadata(body.metadata),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, PRICE_UNITS, { target, change: () => patch }),
  );
}

/** No price, ended or not, may refer to a unit that is removed (docs/domain.md 4). */
const notPriced = notReferenced({ table: 'prices', column: 'price_unit_id' }, 'has prices');

/** DELETE /prices/units/{id}. */
export function removePriceUnit(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<PriceUnitRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) =>
    removeRecord(unit, PRICE_UNITS, { id, guards: [notPriced] }),
  );
}
