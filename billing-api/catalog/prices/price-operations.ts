import { assertPresent } from '../../../runtime/failure.js';
import type { Caller } from '../../records/caller.js';
import { expandRecord, expandRecords } from '../../records/expand-record.js';
import {
  collect,
  isRefusal,
  notFound,
  type Refusal,
  type RequestItems,
} from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import { createPricesOfPlans } from './create-prices.js';
import { PRICE_EXPANSIONS, type ExpandedPrice } from './price-expansions.js';
import { readPriceBody } from './price-request.js';
import { priceConditions, type SearchPricesBody } from './price-search.js';
import { PRICES, type CreatePriceBody } from './price.resource.js';
import { findPrice, findPriceByLookupKey } from './prices-store.js';

/** POST /prices and POST /prices/bulk: all prices of the request, in its order, or none. */
export async function createPrices(
  dependencies: WriteDependencies,
  caller: Caller,
  request: RequestItems<CreatePriceBody>,
): Promise<readonly ExpandedPrice[] | Refusal> {
  const commands = collect(request, readPriceBody);
  if (isRefusal(commands)) return commands;
  return writeUnit(dependencies, caller, async (unit) => {
    const rows = await createPricesOfPlans(unit, { ...request, items: commands });
    if (isRefusal(rows)) return rows;
    return expandRecords(unit, rows, { expansions: PRICE_EXPANSIONS, names: 'all' });
  });
}

/** POST /prices. */
export async function createPrice(
  dependencies: WriteDependencies,
  caller: Caller,
  body: CreatePriceBody,
): Promise<ExpandedPrice | Refusal> {
  const prices = await createPrices(dependencies, caller, { items: [body], isBulk: false });
  return isRefusal(prices) ? prices : assertPresent(prices[0], 'the new price');
}

/** GET /prices/{id} and GET /prices/lookup/{lookup_key}, with all that the price refers to. */
export function readPrice(
  dependencies: ReadDependencies,
  caller: Caller,
  reference: { readonly id: string } | { readonly lookupKey: string },
): Promise<ExpandedPrice | Refusal> {
  return readUnit(dependencies, caller.environment, async (unit) => {
    const isById = 'id' in reference;
    const row = isById
      ? await findPrice(unit.tx, reference.id)
      : await findPriceByLookupKey(unit.tx, reference.lookupKey);
    if (row === null) return notFound('price', isById ? reference.id : reference.lookupKey);
    return expandRecord(unit, row, PRICE_EXPANSIONS);
  });
}

/** POST /prices/search. */
export async function searchPrices(
  dependencies: Pick<WriteDependencies, 'database' | 'clock'>,
  caller: Caller,
  body: SearchPricesBody,
): Promise<Page<ExpandedPrice> | Refusal> {
  const conditions = priceConditions(body, dependencies.clock.now());
  if (isRefusal(conditions)) return conditions;
  const search = { request: body, conditions, expansions: PRICE_EXPANSIONS };
  return readUnit(dependencies, caller.environment, (unit) => searchExpanded(unit, PRICES, search));
}
