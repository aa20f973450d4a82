import { assertPresent } from '../../../runtime/failure.js';
import type { Occasion } from '../../records/occasion.js';
import {
  collect,
  isRefusal,
  notFound,
  type Refusal,
  Refused,
  type RequestItems,
} from '../../records/refusal.js';
import { readOperation } from '../../records/operation.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import { createOwnedPrices } from './create-prices.js';
import { expandPrice, expandPrices, type ExpandedPrice } from './expand-prices.js';
import { readPriceBody } from './price-request.js';
import type { CreatePriceBody } from '../../declarations/catalog/price-bodies.js';
import { findPrice, findPriceByLookupKey } from './prices-store.js';

/** POST /prices and POST /prices/bulk: all prices of the request, in its order, or none. */
export async function createPrices(
  dependencies: WriteDependencies,
  occasion: Occasion,
  request: RequestItems<CreatePriceBody>,
): Promise<readonly ExpandedPrice[] | Refusal> {
  const commands = collect(request, readPriceBody);
  if (isRefusal(commands)) return commands;
  return writeUnit(dependencies, occasion, async (unit) => {
    const rows = await createOwnedPrices(unit, { ...request, items: commands });
    return expandPrices(unit, rows);
  });
}

/** POST /prices. */
export async function createPrice(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreatePriceBody,
): Promise<ExpandedPrice | Refusal> {
  const prices = await createPrices(dependencies, occasion, { items: [body], isBulk: false });
  return isRefusal(prices) ? prices : assertPresent(prices[0], 'the new price');
}

/** GET /prices/{id} and GET /prices/lookup/{lookup_key}, with all that the price refers to. */
export const readPrice = readOperation(
  async (
    unit,
    reference: { readonly id: string } | { readonly lookupKey: string },
  ): Promise<ExpandedPrice> => {
    const isById = 'id' in reference;
    const row = isById
      ? await findPrice(unit.tx, reference.id)
      : await findPriceByLookupKey(unit.tx, reference.lookupKey);
    if (row === null)
      throw new Refused(notFound('price', isById ? reference.id : reference.lookupKey));
    return expandPrice(unit, row);
  },
);
