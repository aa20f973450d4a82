import { findMetersForUse } from '../../catalog/meters/meters-store.js';
import type { PriceRow } from '../../catalog/prices/price.resource.js';
import { findPrices } from '../../catalog/prices/prices-store.js';
import type { Unit } from '../../records/unit.js';
import type { LineContext } from '../lines/line-price.js';
import { inlineMeterIds, namedPriceIds } from '../lines/requested-price.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** Reads the prices and meters that the lines of the subscription need. */
export async function findLineContext(
  { tx, now }: Unit,
  {
    command,
    subscriptionId,
  }: { readonly command: SubscriptionCommand; readonly subscriptionId: string },
  planPrices: readonly PriceRow[],
): Promise<LineContext> {
  const { currency, billingPeriod, billingPeriodCount, addedLines, commitments } = command;
  const requested = [...addedLines, ...commitments.flatMap(({ timeBuckets }) => timeBuckets)].map(
    ({ price }) => price,
  );
  const prices = await findPrices(tx, namedPriceIds(requested));
  const rows = [...planPrices, ...prices.values()];
  const meterIds = rows.flatMap((row) => row.meter_id ?? []);
  const meters = await findMetersForUse(tx, [...meterIds, ...inlineMeterIds(requested)]);
  return { currency, billingPeriod, billingPeriodCount, subscriptionId, now, prices, meters };
}
