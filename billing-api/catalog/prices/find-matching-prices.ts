import { priceFromRow, type PriceRow } from '../../declarations/catalog/price.resource.js';
import { matchingPrices, type PriceMatch } from '../../domain/price/matching-prices.js';
import type { ReadUnit } from '../../records/unit.js';
import { findLivePrices } from './prices-store.js';

/** What the prices of a subscription must be for, as a refusal says it. */
export function matchText(match: PriceMatch): string {
  return `${match.currency}, ${match.billingPeriod} × ${match.billingPeriodCount}`;
}

/** The prices of plans and addons that match a subscription (docs/domain.md 9.4), oldest first. */
export async function findMatchingPrices(
  { tx, now }: ReadUnit,
  match: PriceMatch,
  ownerIds: readonly string[],
): Promise<readonly PriceRow[]> {
  const live = await findLivePrices(tx, { entityIds: ownerIds, now });
  const matching = matchingPrices(live.map(priceFromRow), match, now);
  const ids = new Set(matching.map((price) => price.id));
  return live.filter((row) => ids.has(row.id));
}
