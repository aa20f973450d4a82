import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { findMatchingPrices } from '../../catalog/prices/find-matching-prices.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import { priceFromRow, type PriceRow } from '../../declarations/catalog/price.resource.js';
import {
  LINE_ITEMS,
  type LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { lineBillingOf } from '../../domain/invoice/line-billing.js';
import { ownPeriodAt } from '../../domain/periods/own-periods.js';
import { updateRecord } from '../../records/change-record.js';
import type { Unit } from '../../records/unit.js';
import { commitmentOf, NO_COMMITMENT, type NewLine } from '../../subscriptions/lines/new-line.js';
import { storeLines } from '../../subscriptions/lines/store-lines.js';
import { handOverOf, rootOf } from '../../subscriptions/lines/succeeded-prices.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import { findLineContext } from '../open/lines.js';

/** How many line items a sync has found wanting, made and ended. */
export type SyncCounts = {
  readonly found: number;
  readonly created: number;
  readonly terminated: number;
};

/** What a subscription has of its plan, and what it should have. */
type Sync = {
  readonly loaded: BilledSubscription;
  readonly plan: PlanRow;
  /** Its lines of the plan, also those that have ended. */
  readonly lines: readonly LineItemRow[];
  /** The live prices of the plan that match it, the first one to begin first. */
  readonly live: readonly PriceRow[];
  /** The lineages that have a price of the subscription, which a sync leaves alone. */
  readonly overridden: ReadonlySet<string>;
  readonly now: InstantMs;
};

/** A line item that gives way, and when. */
type GivingWay = { readonly line: LineItemRow; readonly atMs: InstantMs };

function priceOf({ loaded }: Sync, line: LineItemRow): PriceRow {
  return mustGet(loaded.related.prices, line.price_id, 'the price of a line');
}

function isInAdvance(price: PriceRow): boolean {
  const { type, invoice_cadence: cadence, billing_period: period } = price;
  return type === 'FIXED' && cadence === 'ADVANCE' && period !== 'ONETIME';
}

/**
 * When a price begins or ends for a subscription: at the instant; one in advance at the start of
 * the next period of its own, since the running one may be charged already.
 */
function boundaryOf({ loaded, now }: Sync, price: PriceRow, instant: InstantMs): InstantMs {
  if (!isInAdvance(price)) return instant;
  const { terms, subscription } = loaded;
  const own = ownPeriodAt(terms, lineBillingOf(priceFromRow(price), terms).steps, instant);
  if (own !== null) return own.startMs === instant && instant > now ? instant : own.endMs;
  const isInTrial = subscription.subscription_status === 'trialing';
  return isInTrial ? Math.max(instant, subscription.current_period_end) : instant;
}

/** When a line gives way to what the plan says; null while its price has no end. */
function givesWayAt(sync: Sync, line: LineItemRow): InstantMs | null {
  const price = priceOf(sync, line);
  if (price.end_date === null || line.billing_period === 'ONETIME') return null;
  if (sync.overridden.has(rootOf(price))) return null;
  const boundary = boundaryOf(sync, price, Math.max(sync.now, price.end_date));
  const atMs = Math.max(line.start_date, boundary);
  return line.end_date !== null && line.end_date <= atMs ? null : atMs;
}

/** By lineage, the line that gives way. */
function linesGivingWay(sync: Sync): Map<string, GivingWay> {
  const found = sync.lines.flatMap((line): readonly (readonly [string, GivingWay])[] => {
    const atMs = givesWayAt(sync, line);
    return atMs === null ? [] : [[rootOf(priceOf(sync, line)), { line, atMs }]];
  });
  return new Map(found);
}

/**
 * The live prices that no line of the plan has had. A lineage whose lines were ended by hand stays
 * ended.
 */
function missingPrices(sync: Sync): readonly PriceRow[] {
  const { lines, live, overridden, now } = sync;
  const had = new Set(lines.map(({ price_id: id }) => id));
  const roots = new Set(lines.map((line) => rootOf(priceOf(sync, line))));
  const running = new Set(
    lines
      .filter(({ end_date: endMs, billing_period: period }) => {
        return period !== 'ONETIME' && (endMs === null || endMs > now);
      })
      .map((line) => rootOf(priceOf(sync, line))),
  );
  return live.filter((price) => {
    const root = rootOf(price);
    if (had.has(price.id) || overridden.has(root)) return false;
    return !roots.has(root) || running.has(root);
  });
}

/** The line of a missing price: it goes on where one of the same lineage ends. */
function newLineOf(
  sync: Sync,
  price: PriceRow,
  before: GivingWay | null,
): { readonly line: NewLine; readonly startMs: InstantMs } {
  const startMs = before?.atMs ?? boundaryOf(sync, price, sync.now);
  const handOver = handOverOf(price, sync.live);
  const line: NewLine = {
    entityType: 'plan',
    addon: null,
    priceId: price.id,
    displayName: null,
    timeBuckets: [],
    price: { kind: 'stored', row: price },
    endMs: handOver === null ? null : boundaryOf(sync, price, handOver),
    quantity: before !== null && price.type === 'FIXED' ? before.line.quantity : null,
    metadata: before?.line.metadata ?? {},
    commitment: before === null ? NO_COMMITMENT : commitmentOf(before.line),
    ...(before === null ? {} : { continues: { id: before.line.id, isSettled: false } }),
  };
  return { line, startMs };
}

/** Where a subscription ends, as far as that is known. */
function lastOf({ loaded }: Sync): InstantMs {
  const { end_date: endMs, cancel_at: cancelAt } = loaded.subscription;
  return Math.min(endMs ?? Infinity, cancelAt ?? Infinity);
}

/** Stores the lines of missing prices that have time of their own. @returns how many those are. */
async function storeMissing(
  unit: Unit,
  sync: Sync,
  { missing, ended }: { missing: readonly PriceRow[]; ended: ReadonlyMap<string, GivingWay> },
): Promise<number> {
  const { subscription: row } = sync.loaded;
  const terms = {
    currency: row.currency,
    billingPeriod: row.billing_period,
    addedLines: [],
    billingPeriodCount: row.billing_period_count,
    commitments: [],
  };
  const wanted = { request: terms, subscriptionId: row.id };
  const { meters } = await findLineContext(unit, wanted, { planPrices: missing, addons: [] });
  const last = new Map(ended);
  let created = 0;
  for (const price of missing) {
    const { line, startMs } = newLineOf(sync, price, last.get(rootOf(price)) ?? null);
    if (startMs >= Math.min(lastOf(sync), line.endMs ?? Infinity)) continue;
    const owner = {
      subscriptionId: row.id,
      customerId: row.customer_id,
      plan: sync.plan,
      startMs,
      isRunning: startMs < row.current_period_end,
    };
    const stored = await storeLines(unit, owner, { lines: [line], meters });
    const after = assertPresent(stored.lineItems[0], 'the new line item');
    if (line.endMs !== null) last.set(rootOf(price), { line: after, atMs: line.endMs });
    created += 1;
  }
  return created;
}

async function syncLines(unit: Unit, sync: Sync): Promise<SyncCounts> {
  const ended = linesGivingWay(sync);
  const missing = missingPrices(sync);
  for (const { line, atMs } of ended.values()) {
    await updateRecord(unit, LINE_ITEMS, { row: line, patch: { end_date: atMs } });
  }
  const created = await storeMissing(unit, sync, { missing, ended });
  return { found: missing.length, created, terminated: ended.size };
}

async function readSync(unit: Unit, loaded: BilledSubscription, plan: PlanRow): Promise<Sync> {
  const { subscription: row, related } = loaded;
  const match = {
    currency: row.currency,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
  };
  const lines = related.lineItems.filter(({ entity_type: type }) => type === 'plan');
  const prices = lines.map((line) => mustGet(related.prices, line.price_id, 'a price of a line'));
  const own = prices.filter(({ entity_type: type }) => type === 'SUBSCRIPTION');
  const live = await findMatchingPrices(unit, match, [plan.id]);
  const inOrder = [...live].sort((a, b) => a.start_date - b.start_date);
  const overridden = new Set(own.map(rootOf));
  return { loaded, plan, lines, live: inOrder, overridden, now: unit.now };
}

/**
 * Gives a locked subscription the present prices of its plan (docs/domain.md 9.6). An inherited one
 * has no lines, and only notes that it is as new as its plan.
 */
export async function syncSubscription(
  unit: Unit,
  loaded: BilledSubscription,
  plan: PlanRow,
): Promise<SyncCounts> {
  const { subscription: row } = loaded;
  const counts =
    row.subscription_type === 'inherited'
      ? { found: 0, created: 0, terminated: 0 }
      : await syncLines(unit, await readSync(unit, loaded, plan));
  const patch = { synced_price_sequence: plan.price_sequence };
  const synced = await updateRecord(unit, SUBSCRIPTIONS, { row, patch });
  await announceUpdated(unit, synced);
  return counts;
}
