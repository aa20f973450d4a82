import type { InstantMs } from '../../../contract/instant.js';
import { meterMatches } from '../../../contract/meter.js';
import { lineBillingOf } from '../../domain/invoice/line-billing.js';
import { billedFromMs, periodAt } from '../../domain/periods/ledger-periods.js';
import { ownPeriodAt } from '../../domain/periods/own-periods.js';
import { findMeteredLines, type MeteredLine } from './metered-lines.js';
import type { StoredEvent } from '../../events/events-store.js';
import { findPrices } from '../../catalog/prices/prices-store.js';
import type { Transaction } from '../../records/unit.js';

/** A line item that bills an event, and where its usage window begins. */
export type EventLine = {
  readonly subscriptionId: string;
  readonly lineItemId: string;
  readonly priceId: string;
  readonly windowStartMs: InstantMs;
};

/** The start of the line's usage window that contains the instant (docs/domain.md 7.7), or null. */
function windowStartOf({ item, ledger }: MeteredLine, instant: InstantMs): InstantMs | null {
  const { start_date: startMs, end_date: endMs } = item;
  if (instant < Math.max(startMs, billedFromMs(ledger))) return null;
  if (endMs !== null && instant >= endMs) return null;
  const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = item;
  const { steps } = lineBillingOf({ billingPeriod, billingPeriodCount }, ledger);
  const period = steps === 1 ? periodAt(ledger, instant) : ownPeriodAt(ledger, steps, instant);
  return period === null ? null : Math.max(period.startMs, startMs);
}

/**
 * The lines that bill an event of these customers on these meters: the window contains it, and it
 * has the texts by which the price narrows its meter (docs/domain.md 9.3).
 */
export async function findLinesOfEvent(
  transaction: Transaction,
  event: StoredEvent,
  by: { readonly customerIds: readonly string[]; readonly meterIds: readonly string[] },
): Promise<readonly EventLine[]> {
  const lines = await findMeteredLines(transaction, by.customerIds, {
    meterIds: by.meterIds,
    atMs: event.timestampMs,
  });
  const prices = await findPrices(
    transaction,
    lines.map(({ item }) => item.price_id),
  );
  return lines.flatMap((line) => {
    const windowStartMs = windowStartOf(line, event.timestampMs);
    const narrowing = Object.entries(prices.get(line.item.price_id)?.filter_values ?? {});
    const filters = narrowing.map(([key, values]) => ({ key, values }));
    const isBilled = meterMatches({ eventName: event.eventName, filters }, event);
    if (windowStartMs === null || !isBilled) return [];
    const { id: lineItemId, price_id: priceId, subscription_id: subscriptionId } = line.item;
    return [{ subscriptionId, lineItemId, priceId, windowStartMs }];
  });
}
