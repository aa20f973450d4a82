import type { Caller } from '../../records/caller.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readUnit, type WriteDependencies } from '../../records/unit.js';
import { withSymbols, type ExpandedPrice } from './expand-prices.js';
import { PRICE_EXPANSIONS } from './price-expansions.js';
import { priceConditions, type SearchPricesBody } from './price-search.js';
import { PRICES } from '../../declarations/catalog/price.resource.js';

/** POST /prices/search. */
export async function searchPrices(
  dependencies: Pick<WriteDependencies, 'database' | 'clock'>,
  caller: Caller,
  body: SearchPricesBody,
): Promise<Page<ExpandedPrice> | Refusal> {
  const conditions = priceConditions(body, dependencies.clock.now());
  if (isRefusal(conditions)) return conditions;
  const search = { request: body, conditions, expansions: PRICE_EXPANSIONS };
  return readUnit(dependencies, caller.environment, async (unit) => {
    const page = await searchExpanded(unit, PRICES, search);
    return isRefusal(page) ? page : { ...page, items: await withSymbols(unit, page.items) };
  });
}
