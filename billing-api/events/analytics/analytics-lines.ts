import type { Interval } from '../../../contract/instant.js';
import type { FeatureRow } from '../../catalog/features/feature.resource.js';
import type { CustomerRow } from '../../customers/customer.resource.js';
import { lifeOf } from '../../domain/calendar/billing-periods.js';
import { overlapOf } from '../../domain/calendar/interval.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import type { Caller } from '../../records/caller.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import type { LineItemRow } from '../../subscriptions/line-item.resource.js';
import { findMetering, lineItemFrom, type Metering } from '../../subscriptions/lines/line-items.js';
import type { LineRecords } from '../../subscriptions/related-records.js';
import { termsFromRow } from '../../subscriptions/subscription-terms.js';
import type { SubscriptionRow } from '../../subscriptions/subscription.resource.js';
import { findAnalyticsRecords, type AnalyticsRecords } from './analytics-records.js';

/** One usage line item of a customer in the time in which the range and its life overlap. */
export type AnalyticsLine = {
  readonly row: LineItemRow;
  readonly lineItem: LineItem;
  readonly subscription: SubscriptionRow;
  readonly range: Interval;
  /** The oldest published feature of the meter. */
  readonly feature: FeatureRow | null;
};
export type AnalyticsLines = {
  readonly customer: CustomerRow;
  readonly lines: readonly AnalyticsLine[];
  readonly metering: Metering;
  readonly related: LineRecords;
};

type LinesQuery = {
  readonly externalId: string;
  readonly range: Interval;
  readonly featureIds: readonly string[];
};

/** The line in the part of the range in which it exists; none when that is empty. */
function lineOf(
  row: LineItemRow,
  {
    query,
    found,
    metering,
  }: { readonly query: LinesQuery; readonly found: AnalyticsRecords; readonly metering: Metering },
): readonly AnalyticsLine[] {
  const subscription = found.subscriptions.find(({ id }) => id === row.subscription_id);
  if (subscription === undefined || row.price_type !== 'USAGE') return [];
  const life = overlapOf(query.range, lifeOf(termsFromRow(subscription)));
  const existence = { startMs: row.start_date, endMs: row.end_date ?? Infinity };
  const range = life === null ? null : overlapOf(life, existence);
  const features = found.features.filter((feature) => feature.meter_id === row.meter_id);
  const isWanted =
    query.featureIds.length === 0 || features.some(({ id }) => query.featureIds.includes(id));
  if (range === null || !isWanted) return [];
  const lineItem = lineItemFrom(row, found.related.prices, metering);
  return [{ row, lineItem, subscription, range, feature: features[0] ?? null }];
}

/** The usage line items of a customer that overlap a range, in line order, from one snapshot. */
export function findAnalyticsLines(
  dependencies: ReadDependencies,
  { environment }: Caller,
  query: LinesQuery,
): Promise<AnalyticsLines | Refusal> {
  return readUnit(dependencies, environment, async (unit): Promise<AnalyticsLines | Refusal> => {
    const found = await findAnalyticsRecords(unit, query);
    if (isRefusal(found)) return found;
    const { customer, related } = found;
    const metering = await findMetering(unit.tx, environment, related.lineItems);
    const lines = related.lineItems.flatMap((row) => lineOf(row, { query, found, metering }));
    return { customer, lines, metering, related };
  });
}
