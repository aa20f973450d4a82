import type { Interval } from '../../../contract/instant.js';
import { lifeOf } from '../../domain/calendar/billing-periods.js';
import { overlapOf } from '../../domain/calendar/interval.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import type { CustomerRow } from '../../customers/customer.resource.js';
import { findCustomerByExternalId } from '../../customers/customers-store.js';
import type { FeatureRow } from '../../catalog/features/feature.resource.js';
import {
  findFeaturesOfMeters,
  findUnknownFeatureIds,
} from '../../catalog/features/features-store.js';
import { findSubscriptionsOfCustomer } from '../../subscriptions/subscriptions-store.js';
import type { LineItemRow } from '../../subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../subscriptions/subscription.resource.js';
import { type ReadDependencies, type ReadUnit, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { findMetering, lineItemFrom, type Metering } from '../../subscriptions/lines/line-items.js';
import { findLineRecords, type LineRecords } from '../../subscriptions/related-records.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import { termsFromRow } from '../../subscriptions/subscription-terms.js';

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

type Found = {
  readonly customer: CustomerRow;
  readonly subscriptions: readonly SubscriptionRow[];
  readonly related: LineRecords;
  readonly features: readonly FeatureRow[];
};

async function findRecords(
  { tx }: ReadUnit,
  { externalId, featureIds }: LinesQuery,
): Promise<Found | Refusal> {
  const customer = await findCustomerByExternalId(tx, externalId);
  if (customer === null) return notFound('customer', externalId);
  const [unknown] = await findUnknownFeatureIds(tx, featureIds);
  if (unknown !== undefined) return notFound('feature', unknown);
  const subscriptions = await findSubscriptionsOfCustomer(tx, customer.id);
  const related = await findLineRecords(tx, subscriptions);
  const meterIds = related.lineItems.flatMap((item) => item.meter_id ?? []);
  const features = await findFeaturesOfMeters(tx, meterIds);
  return { customer, subscriptions, related, features };
}

/** The line in the part of the range in which it exists; none when that is empty. */
function lineOf(
  row: LineItemRow,
  {
    query,
    found,
    metering,
  }: { readonly query: LinesQuery; readonly found: Found; readonly metering: Metering },
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
    const found = await findRecords(unit, query);
    if (isRefusal(found)) return found;
    const { customer, related } = found;
    const metering = await findMetering(unit.tx, environment, related.lineItems);
    const lines = related.lineItems.flatMap((row) => lineOf(row, { query, found, metering }));
    return { customer, lines, metering, related };
  });
}
