import type { Interval } from '../../../contract/instant.js';
import { lifeOf } from '../../domain/calendar/billing-periods.js';
import { overlapOf } from '../../domain/calendar/interval.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import { findCustomerByExternalId, type CustomerRow } from '../../customers/customers-store.js';
import {
  findFeaturesOfMeters,
  findUnknownFeatureIds,
  type FeatureRow,
} from '../../catalog/features/features-store.js';
import {
  findSubscriptionsOfCustomer,
  type LineItemRow,
  type SubscriptionRow,
} from '../../subscriptions/subscriptions-store.js';
import { type ReadDependencies, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { findMetering, lineItemFrom, type Metering } from '../../subscriptions/lines/line-items.js';
import {
  findSurroundings,
  type SubscriptionSurroundings,
} from '../../subscriptions/read-subscriptions.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import { termsFromRow } from '../../subscriptions/create/subscription-request.js';

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
  readonly surroundings: SubscriptionSurroundings;
};

type Wish = {
  readonly externalId: string;
  readonly range: Interval;
  readonly featureIds: readonly string[];
};

type Found = {
  readonly customer: CustomerRow;
  readonly subscriptions: readonly SubscriptionRow[];
  readonly surroundings: SubscriptionSurroundings;
  readonly features: readonly FeatureRow[];
};

function findRows(
  { database }: ReadDependencies,
  caller: Caller,
  { externalId, featureIds }: Wish,
): Promise<Found | Refusal> {
  return readUnit(
    { database },
    caller.environment,
    async ({ tx: transaction }): Promise<Found | Refusal> => {
      const customer = await findCustomerByExternalId(transaction, externalId);
      if (customer === null) return notFound('customer', externalId);
      const [unknown] = await findUnknownFeatureIds(transaction, featureIds);
      if (unknown !== undefined) return notFound('feature', unknown);
      const subscriptions = await findSubscriptionsOfCustomer(transaction, customer.id);
      const wish = { withCustomers: false, withLineItems: true };
      const surroundings = await findSurroundings(transaction, subscriptions, wish);
      const meterIds = surroundings.lineItems.flatMap((item) => item.meter_id ?? []);
      const features = await findFeaturesOfMeters(transaction, meterIds);
      return { customer, subscriptions, surroundings, features };
    },
  );
}

/** The line in the part of the range in which it exists; none when that is empty. */
function lineOf(
  row: LineItemRow,
  { wish, found, metering }: { readonly wish: Wish; found: Found; metering: Metering },
): readonly AnalyticsLine[] {
  const subscription = found.subscriptions.find(({ id }) => id === row.subscription_id);
  if (subscription === undefined || row.price_type !== 'USAGE') return [];
  const life = overlapOf(wish.range, lifeOf(termsFromRow(subscription)));
  const existence = { startMs: row.start_date, endMs: row.end_date ?? Infinity };
  const range = life === null ? null : overlapOf(life, existence);
  const features = found.features.filter((feature) => feature.meter_id === row.meter_id);
  const isWanted =
    wish.featureIds.length === 0 || features.some(({ id }) => wish.featureIds.includes(id));
  if (range === null || !isWanted) return [];
  const lineItem = lineItemFrom(row, found.surroundings.prices, metering);
  return [{ row, lineItem, subscription, range, feature: features[0] ?? null }];
}

/** The usage line items of a customer that overlap a range, in line order. */
export async function findAnalyticsLines(
  dependencies: ReadDependencies,
  caller: Caller,
  wish: Wish,
): Promise<AnalyticsLines | Refusal> {
  const found = await findRows(dependencies, caller, wish);
  if (isRefusal(found)) return found;
  const { customer, surroundings } = found;
  const metering = await findMetering(dependencies, caller, surroundings.lineItems);
  const lines = surroundings.lineItems.flatMap((row) => lineOf(row, { wish, found, metering }));
  return { customer, lines, metering, surroundings };
}
