import type { PlanRow } from '../catalog/plans/plan.resource.js';
import { findPlans } from '../catalog/plans/plans-store.js';
import type { PriceRow } from '../catalog/prices/price.resource.js';
import { findPrices } from '../catalog/prices/prices-store.js';
import { findCustomers } from '../customers/customers-store.js';
import type { CustomerRow } from '../customers/customer.resource.js';
import type { Transaction } from '../records/unit.js';
import type { LineItemRow } from './line-item.resource.js';
import type { SubscriptionRow } from './subscription.resource.js';
import { findLineItems } from './subscriptions-store.js';

/** The line items of subscriptions, with their prices and the plans of the subscriptions. */
export type LineRecords = {
  readonly plans: ReadonlyMap<string, PlanRow>;
  readonly lineItems: readonly LineItemRow[];
  /** Prices of the line items and of the time buckets on these (docs/domain.md 11.5). */
  readonly prices: ReadonlyMap<string, PriceRow>;
};

/** Everything that belongs to subscriptions. */
export type RelatedRecords = LineRecords & {
  readonly customers: ReadonlyMap<string, CustomerRow>;
};

/** The prices of line items, and those of the time buckets on these (docs/domain.md 11.5). */
export async function findPricesOfLines(
  transaction: Transaction,
  lineItems: readonly LineItemRow[],
): Promise<ReadonlyMap<string, PriceRow>> {
  const ids = lineItems.map((item) => item.price_id);
  const prices = await findPrices(transaction, ids);
  const buckets = [...prices.values()].flatMap((price) => price.commitment_time_buckets ?? []);
  const bucketIds = buckets.map((bucket) => bucket.price_id);
  return new Map([...(await findPrices(transaction, bucketIds)), ...prices]);
}

export async function findLineRecords(
  transaction: Transaction,
  rows: readonly SubscriptionRow[],
): Promise<LineRecords> {
  const ids = rows.map((row) => row.id);
  const planIds = rows.map((row) => row.plan_id);
  const lineItems = await findLineItems(transaction, ids);
  return {
    lineItems,
    plans: await findPlans(transaction, planIds),
    prices: await findPricesOfLines(transaction, lineItems),
  };
}

export async function findRelatedRecords(
  transaction: Transaction,
  rows: readonly SubscriptionRow[],
): Promise<RelatedRecords> {
  const customerIds = rows.map((row) => row.customer_id);
  const customers = await findCustomers(transaction, customerIds);
  return { ...(await findLineRecords(transaction, rows)), customers };
}
