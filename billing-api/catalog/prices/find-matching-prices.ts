import { priceFromRow, type PriceRow } from '../../declarations/catalog/price.resource.js';
import { matchingPrices, type PriceMatch } from '../../domain/price/matching-prices.js';
import type { ReadUnit } from '../../records/unit.js';
import { findLivePrices } from './prices-store.js';

/** What prices are for, as a refusal says it: `usd, MONTHLY × 1`. */
function matchText({ currency, billingPeriod, billingPeriodCount }: PriceCadenceText): string {
  return `${currency}, ${billingPeriod} × ${billingPeriodCount}`;
}

type PriceCadenceText = {
  readonly currency: string;
  readonly billingPeriod: string;
  readonly billingPeriodCount: number;
};

/** So many kinds of prices are named. */
const NAMED_MAX = 5;

/** Why a plan or an addon has no price for a subscription, and what prices it has. */
export async function noMatchProblem(
  { tx, now }: ReadUnit,
  match: PriceMatch,
  { noun, id }: { readonly noun: 'plan' | 'addon'; readonly id: string },
): Promise<string> {
  const live = await findLivePrices(tx, { entityIds: [id], now });
  const had = [...new Set(live.map((row) => matchText(priceFromRow(row))))].sort();
  const named = had.slice(0, NAMED_MAX).join('; ');
  const others = had.length > NAMED_MAX ? ` and ${had.length - NAMED_MAX} others` : '';
  const known = had.length === 0 ? 'it has none at all' : `it has ${named}${others}`;
  return `the ${noun} has no live price for ${matchText(match)}: ${known}`;
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
