import { priceFromRow, type PriceRow } from '../../declarations/catalog/price.resource.js';
import { findLivePrices } from '../../catalog/prices/prices-store.js';
import { matchingPrices } from '../../domain/price/matching-prices.js';
import type { Unit } from '../../records/unit.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** What the prices of a subscription must be for, as a refusal says it. */
export function termsText(command: SubscriptionCommand): string {
  return `${command.currency}, ${command.billingPeriod} × ${command.billingPeriodCount}`;
}

/** The prices of plans and addons that match a subscription (docs/domain.md 9.4), oldest first. */
export async function findMatchingPrices(
  { tx, now }: Unit,
  command: SubscriptionCommand,
  ownerIds: readonly string[],
): Promise<readonly PriceRow[]> {
  const live = await findLivePrices(tx, { entityIds: ownerIds, now });
  const matching = matchingPrices(live.map(priceFromRow), command, now);
  const ids = new Set(matching.map((price) => price.id));
  return live.filter((row) => ids.has(row.id));
}
