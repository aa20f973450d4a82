import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { changeTypeOf, type ChangeType } from '../../domain/settlement/change-type.js';
import { ratePrice } from '../../domain/rating/rate-price.js';
import type { BilledLines } from '../../subscriptions/line-records.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';

/** What a recurring fixed line costs for each of its periods; null for every other line. */
function chargeOf(row: LineItemRow, prices: ReadonlyMap<string, PriceRow>) {
  const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = row;
  if (row.price_type !== 'FIXED' || billingPeriod === 'ONETIME') return null;
  // Fixed lines have no meters.
  const metering = { meters: new Map(), effectiveMeters: new Map() } as const;
  const { price, quantity } = lineItemFromRow(row, prices, metering);
  const amount: Decimal = ratePrice(price, quantity).amount;
  return { amount, billingPeriod, billingPeriodCount };
}

/** Compares the fixed lines of a subscription that end with those that begin. */
export function changeTypeOfLines(
  { related }: BilledSubscription,
  begun: Pick<BilledLines, 'lineItems' | 'prices'>,
  atMs: InstantMs,
): ChangeType {
  const isLive = ({ start_date: startMs, end_date: endMs }: LineItemRow): boolean =>
    startMs <= atMs && (endMs ?? Infinity) > atMs;
  const ended = related.lineItems.filter(isLive).map((row) => chargeOf(row, related.prices));
  const started = begun.lineItems.map((row) => chargeOf(row, begun.prices));
  return changeTypeOf(
    ended.filter((charge) => charge !== null),
    started.filter((charge) => charge !== null),
  );
}
