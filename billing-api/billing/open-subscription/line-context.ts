import { findMetersForUse } from '../../catalog/meters/meters-store.js';
import { findPriceUnitsForUse } from '../../catalog/price-units/price-units-store.js';
import { findPrices } from '../../catalog/prices/prices-store.js';
import type { Unit } from '../../records/unit.js';
import type { LineContext } from '../../subscriptions/lines/line-price.js';
import {
  inlineMeterIds,
  inlineUnitCodes,
  namedPriceIds,
} from '../../subscriptions/lines/requested-price.js';
import type { ContractParties } from './contract-parties.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** Reads the prices and meters that the lines of the subscription need. */
export async function findLineContext(
  { tx, now }: Unit,
  {
    command,
    subscriptionId,
  }: { readonly command: SubscriptionCommand; readonly subscriptionId: string },
  { planPrices, addons }: Pick<ContractParties, 'planPrices' | 'addons'>,
): Promise<LineContext> {
  const { currency, billingPeriod, billingPeriodCount, addedLines, commitments } = command;
  const requested = [...addedLines, ...commitments.flatMap(({ timeBuckets }) => timeBuckets)].map(
    ({ price }) => price,
  );
  const prices = await findPrices(tx, namedPriceIds(requested));
  const ofAddons = addons.flatMap((addon) => addon.prices);
  const rows = [...planPrices, ...ofAddons, ...prices.values()];
  const meterIds = rows.flatMap((row) => row.meter_id ?? []);
  const meters = await findMetersForUse(tx, [...meterIds, ...inlineMeterIds(requested)]);
  const units = await findPriceUnitsForUse(tx, inlineUnitCodes(requested));
  const terms = { currency, billingPeriod, billingPeriodCount, subscriptionId, now };
  return { ...terms, prices, meters, units };
}
