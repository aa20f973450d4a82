import type { Interval } from '../../../contract/instant.js';
import type { FeatureRow } from '../../declarations/catalog/feature.resource.js';
import { lifeOf } from '../../domain/periods/ledger-periods.js';
import { overlapOf } from '../../domain/calendar/interval.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import type { Metering } from '../../subscriptions/lines/metering.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { AnalyticsRecords } from './analytics-records.js';

/** One usage line item of a customer in the time in which the range and its life overlap. */
export type AnalyticsLine = {
  readonly row: LineItemRow;
  readonly lineItem: LineItem;
  readonly subscription: SubscriptionRow;
  readonly range: Interval;
  /** The oldest published feature of the meter. */
  readonly feature: FeatureRow | null;
};
/** The usage line items that are analysed; an empty list of features selects all of them. */
export type LineSelection = {
  readonly range: Interval;
  readonly featureIds: readonly string[];
};

/** The line in the part of the range in which it exists; none when that is empty. */
export function lineInRange(
  row: LineItemRow,
  {
    query,
    found,
    metering,
  }: {
    readonly query: LineSelection;
    readonly found: AnalyticsRecords;
    readonly metering: Metering;
  },
): readonly AnalyticsLine[] {
  const subscription = found.subscriptions.find(({ id }) => id === row.subscription_id);
  const ledger = found.ledgers.get(row.subscription_id);
  if (subscription === undefined || ledger === undefined) return [];
  if (row.price_type !== 'USAGE') return [];
  const life = overlapOf(query.range, lifeOf(ledger));
  const existence = { startMs: row.start_date, endMs: row.end_date ?? Infinity };
  const range = life === null ? null : overlapOf(life, existence);
  const features = found.features.filter((feature) => feature.meter_id === row.meter_id);
  const isWanted =
    query.featureIds.length === 0 || features.some(({ id }) => query.featureIds.includes(id));
  if (range === null || !isWanted) return [];
  const lineItem = lineItemFromRow(row, found.related.prices, metering);
  return [{ row, lineItem, subscription, range, feature: features[0] ?? null }];
}
