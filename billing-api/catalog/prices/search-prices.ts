import type { Occasion } from '../../records/occasion.js';
import { accept, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import { withSymbols, type ExpandedPrice } from './expand-prices.js';
import { PRICE_EXPANSIONS } from './price-expansions.js';
import { priceConditions, type SearchPricesBody } from './price-search.js';
import { PRICES } from '../../declarations/catalog/price.resource.js';

/** POST /prices/search. */
export async function searchPrices(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchPricesBody,
): Promise<Page<ExpandedPrice> | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const conditions = accept(priceConditions(body, unit.now));
    const search = { request: body, conditions, expansions: PRICE_EXPANSIONS };
    const page = await searchExpanded(unit, PRICES, search);
    return { ...page, items: await withSymbols(unit, page.items) };
  });
}
