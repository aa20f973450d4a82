import { ADDONS, type AddonRow } from '../declarations/catalog/addon.resource.js';
import { PLANS, type PlanRow } from '../declarations/catalog/plan.resource.js';
import { findSymbolsOfPrices } from '../catalog/price-units/price-units-store.js';
import type { PriceRow } from '../declarations/catalog/price.resource.js';
import { findPrices } from '../catalog/prices/prices-store.js';
import type { UnitSymbols } from '../domain/price/price-unit.js';
import { findRecords } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
import type { LineItemRow } from '../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';
import { findLineItems } from './subscriptions-store.js';

/** The line items of subscriptions with what decides their charges. */
export type BilledLines = {
  readonly plans: ReadonlyMap<string, PlanRow>;
  readonly lineItems: readonly LineItemRow[];
  /** Prices of the line items and of the time buckets on these (docs/domain.md 11.5). */
  readonly prices: ReadonlyMap<string, PriceRow>;
};

/** The line items of subscriptions, with everything that answers show of them. */
export type LineRecords = BilledLines & {
  readonly addons: ReadonlyMap<string, AddonRow>;
  /** Of the units that the prices are in. */
  readonly symbols: UnitSymbols;
};

/** The prices of line items, and those of the time buckets on these (docs/domain.md 11.5). */
async function findPricesOfLines(
  transaction: Transaction,
  lineItems: readonly LineItemRow[],
): Promise<ReadonlyMap<string, PriceRow>> {
  const ids = lineItems.map((item) => item.price_id);
  const prices = await findPrices(transaction, ids);
  return withPricesOfBuckets(transaction, [...prices.values()], prices);
}

/** The prices of lines and those of their time buckets, which are read where they are not known. */
export async function withPricesOfBuckets(
  transaction: Transaction,
  ofLines: readonly PriceRow[],
  known: ReadonlyMap<string, PriceRow>,
): Promise<ReadonlyMap<string, PriceRow>> {
  const buckets = ofLines.flatMap(({ commitment_time_buckets: of }) => (of === null ? [] : of));
  const ids = new Set(buckets.map((bucket) => bucket.price_id));
  const unknown = [...ids].filter((id) => !known.has(id));
  return new Map([
    ...(await findPrices(transaction, unknown)),
    ...[...known].filter(([id]) => ids.has(id)),
    ...ofLines.map((row) => [row.id, row] as const),
  ]);
}

/** @param lineItemsMax the rest is left out; all without it. */
export async function findBilledLines(
  transaction: Transaction,
  rows: readonly SubscriptionRow[],
  lineItemsMax: number | null = null,
): Promise<BilledLines> {
  const ids = rows.map((row) => row.id);
  const planIds = rows.map((row) => row.plan_id);
  const lineItems = await findLineItems(transaction, ids, lineItemsMax);
  const prices = await findPricesOfLines(transaction, lineItems);
  return { lineItems, plans: await findRecords({ tx: transaction }, PLANS, planIds), prices };
}

/** Adds what invoices are not computed from. */
export async function withShownRecords(
  transaction: Transaction,
  lines: BilledLines,
): Promise<LineRecords> {
  const unit = { tx: transaction };
  const addonIds = lines.lineItems.flatMap((item) =>
    item.entity_type === 'addon' ? item.entity_id : [],
  );
  return {
    ...lines,
    addons: await findRecords(unit, ADDONS, addonIds),
    symbols: await findSymbolsOfPrices(unit, lines.prices.values()),
  };
}

/** @param lineItemsMax the rest is left out; all without it. */
export async function findLineRecords(
  transaction: Transaction,
  rows: readonly SubscriptionRow[],
  lineItemsMax: number | null = null,
): Promise<LineRecords> {
  return withShownRecords(transaction, await findBilledLines(transaction, rows, lineItemsMax));
}
