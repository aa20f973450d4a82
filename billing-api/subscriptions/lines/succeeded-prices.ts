import type { InstantMs } from '../../../contract/instant.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';

/** The first price of a lineage. */
export const rootOf = (price: PriceRow): string => price.parent_price_id ?? price.id;

/** When another one of these prices takes the place of a price; null when none does. */
export function handOverOf(price: PriceRow, prices: readonly PriceRow[]): InstantMs | null {
  const { id, end_date: endMs } = price;
  const isSucceeded = prices.some(
    (other) => other.id !== id && rootOf(other) === rootOf(price) && other.start_date === endMs,
  );
  return isSucceeded ? endMs : null;
}

/** The prices that are still in force after a start: a planned successor may begin before it. */
export function pricesFrom(prices: readonly PriceRow[], startMs: InstantMs): readonly PriceRow[] {
  return prices.filter((price) => {
    const endMs = handOverOf(price, prices);
    return endMs === null || endMs > Math.max(startMs, price.start_date);
  });
}
