import type { InstantMs } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import type { IdSource } from '../../runtime/ids.js';
import { billingLengthOf } from '../domain/billing-length.js';
import { firstPeriod, resolveBillingAnchor } from '../domain/calendar/billing-periods.js';
import { matchingPrices } from '../domain/matching-prices.js';
import type { Price } from '../domain/price.js';
import { holdPublishedCustomer, type CustomerRow } from '../store/customers.js';
import { findMeters, type MeterRow } from '../store/meters.js';
import { holdPublishedPlan, type PlanRow } from '../store/plans.js';
import { priceFromRow } from '../store/price-terms.js';
import { PRICES, findLivePrices, type PriceRow } from '../store/prices.js';
import { insertRows, instantValue, newRecordColumns, type NewRow } from '../store/records.js';
import {
  LINE_ITEMS,
  SUBSCRIPTIONS,
  type LineItemRow,
  type SubscriptionRow,
} from '../store/subscriptions.js';
import { writeAs, type Transaction } from '../store/transaction.js';
import type { Caller } from './caller.js';
import type { Writing } from './dependencies.js';
import { overridePrices, type OverriddenPrice } from './override-prices.js';
import { alreadyExists, invalid, isRefusal, notFound, type Refusal } from './refusal.js';
import { termsFrom, type SubscriptionCommand } from './subscription-request.js';

export type CreatedSubscription = {
  readonly subscription: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
  readonly prices: readonly PriceRow[];
  readonly customer: CustomerRow;
  readonly plan: PlanRow;
};

type Parties = {
  readonly customer: CustomerRow;
  readonly plan: PlanRow;
  readonly prices: readonly PriceRow[];
};

async function findParties(
  transaction: Transaction,
  command: SubscriptionCommand,
  now: InstantMs,
): Promise<Parties | Refusal> {
  const reference = { id: command.customerId, externalId: command.externalCustomerId };
  const customer = await holdPublishedCustomer(transaction, reference);
  if (customer === null) {
    return notFound('customer', command.customerId ?? command.externalCustomerId ?? '');
  }
  const plan = await holdPublishedPlan(transaction, command.planId);
  if (plan === null) return notFound('plan', command.planId);
  const live = await findLivePrices(transaction, { entityIds: [plan.id], now });
  const matching = new Set(
    matchingPrices(live.map(priceFromRow), command, now).map((price) => price.id),
  );
  const prices = live.filter((row) => matching.has(row.id));
  if (prices.length === 0) {
    const wanted = `${command.currency}, ${command.billingPeriod} × ${command.billingPeriodCount}`;
    return invalid({ plan_id: `the plan has no live price for ${wanted}` });
  }
  return { customer, plan, prices };
}

function hasMixedPeriods(prices: readonly Price[]): boolean {
  const lengths = new Set(
    prices.flatMap(({ billingPeriod, billingPeriodCount }) => {
      if (billingPeriod === 'ONETIME') return [];
      const { unit, count } = billingLengthOf({ billingPeriod, billingPeriodCount });
      return [`${count} ${unit}`];
    }),
  );
  return lengths.size > 1;
}

/** Rules that need the prices: trials of the plan, and what prorations refuse (domain.md 22). */
function priceRuleRefusal(
  command: SubscriptionCommand,
  rows: readonly PriceRow[],
  now: InstantMs,
): Refusal | null {
  const prices = rows.map(priceFromRow);
  const hasTrial = prices.some((price) => price.trialPeriodDays !== null);
  if (hasTrial && !command.isWithoutTrial) {
    return invalid({
      trial_period_days:
        'the plan has prices with a trial, and trials are not available yet; give 0',
    });
  }
  if (command.prorationBehavior === 'none') return null;
  if (command.startMs !== null && command.startMs < now) {
    return invalid({ proration_behavior: 'create_prorations does not go with a past start_date' });
  }
  return hasMixedPeriods(prices)
    ? invalid({ proration_behavior: 'create_prorations does not go with mixed billing periods' })
    : null;
}

type NewSubscription = {
  readonly caller: Caller;
  readonly id: string;
  readonly now: InstantMs;
  readonly command: SubscriptionCommand;
};

function subscriptionColumns(creation: NewSubscription, parties: Parties): NewRow {
  const { command, now } = creation;
  const timezone = command.customerTimezone ?? parties.customer.timezone ?? 'UTC';
  const startMs = command.startMs ?? now;
  const { billingCycle, billingPeriod, billingAnchorMs: requested } = command;
  const billingAnchorMs = resolveBillingAnchor({
    billingCycle,
    billingPeriod,
    startMs,
    billingAnchorMs: requested,
    timezone,
  });
  const terms = termsFrom(command, { startMs, billingAnchorMs, timezone });
  const period = firstPeriod(terms);
  return {
    ...newRecordColumns(creation.caller, creation.id, now),
    ...command.kept,
    customer_id: parties.customer.id,
    plan_id: parties.plan.id,
    subscription_status: 'active',
    subscription_type: 'standalone',
    currency: command.currency,
    billing_cadence: command.billingCadence,
    billing_cycle: billingCycle,
    billing_period: billingPeriod,
    billing_period_count: command.billingPeriodCount,
    billing_anchor: instantValue(billingAnchorMs),
    start_date: instantValue(startMs),
    end_date: instantValue(command.endMs),
    current_period_start: instantValue(period.startMs),
    current_period_end: instantValue(period.endMs),
    customer_timezone: timezone,
    proration_behavior: command.prorationBehavior,
    synced_price_sequence: parties.plan.price_sequence,
    cancel_at_period_end: false,
    enable_true_up: false,
    pause_status: 'none',
    version: 1,
  };
}

/** A price that begins later is not charged before; one that began earlier is charged at once. */
function lineStart(price: PriceRow, creation: NewSubscription): InstantMs {
  const startMs = creation.command.startMs ?? creation.now;
  return price.start_date > creation.now ? Math.max(price.start_date, startMs) : startMs;
}

/** Domain.md 9.1: usage lines carry 0, fixed ones what is given, else the price's default. */
function meteredColumns({ price, quantity }: PricedLine, meter: MeterRow | undefined): NewRow {
  const isUsage = price.type === 'USAGE';
  return {
    meter_id: isUsage ? price.meter_id : null,
    meter_display_name: isUsage ? (meter?.name ?? null) : null,
    quantity: isUsage ? '0' : (quantity ?? price.min_quantity ?? '1'),
  };
}

function lineItemColumns(
  { price, quantity }: PricedLine,
  creation: NewSubscription,
  context: { readonly id: string; readonly parties: Parties; readonly meter: MeterRow | undefined },
): NewRow {
  const { plan, customer } = context.parties;
  return {
    ...newRecordColumns(creation.caller, context.id, creation.now),
    subscription_id: creation.id,
    customer_id: customer.id,
    entity_type: 'plan',
    entity_id: plan.id,
    price_id: price.id,
    price_type: price.type,
    ...meteredColumns({ price, quantity }, context.meter),
    plan_display_name: plan.name,
    display_name: price.display_name ?? context.meter?.name ?? plan.name,
    currency: price.currency,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    invoice_cadence: price.invoice_cadence,
    start_date: instantValue(lineStart(price, creation)),
    end_date: null,
    metadata: {},
  };
}

/** A line to be: its price and the quantity that it has in place of the price's own. */
type PricedLine = { readonly price: PriceRow; readonly quantity: string | null };

/** Stores the prices that replace those of the plan; the others are used as they are. */
async function storeOverrides(
  transaction: Transaction,
  creation: NewSubscription,
  wish: { readonly overridden: readonly OverriddenPrice[]; readonly createId: IdSource },
): Promise<readonly PricedLine[]> {
  const rows: NewRow[] = [];
  const idsOfNew = wish.overridden.map(({ columns }) => {
    if (columns === null) return null;
    const id = wish.createId('price');
    const sequence = rows.length + 1;
    rows.push({ ...newRecordColumns(creation.caller, id, creation.now), ...columns, sequence });
    return id;
  });
  const stored = new Map(
    (await insertRows(transaction, PRICES, rows)).map((price) => [price.id, price]),
  );
  return wish.overridden.map(({ base, quantity }, index) => {
    const id = idsOfNew[index] ?? null;
    const price = id === null ? base : assertPresent(stored.get(id), 'the price of an override');
    return { price, quantity };
  });
}

async function storeLineItems(
  transaction: Transaction,
  creation: NewSubscription,
  wish: {
    readonly priced: readonly PricedLine[];
    readonly parties: Parties;
    readonly createId: IdSource;
  },
): Promise<readonly LineItemRow[]> {
  const { priced, parties, createId } = wish;
  const meters = await findMeters(
    transaction,
    priced.flatMap(({ price }) => price.meter_id ?? []),
  );
  // Line order is by created_at, then id: sorted ids keep the order of the prices.
  const ids = priced.map(() => createId('subs_line')).sort();
  const rows = priced.map((line, index) => {
    const id = assertPresent(ids[index], 'an id for every line item');
    const meter = meters.get(line.price.meter_id ?? '');
    return lineItemColumns(line, creation, { id, parties, meter });
  });
  return insertRows(transaction, LINE_ITEMS, rows);
}

/**
 * POST /subscriptions: an active subscription with a line item for every price of the plan that
 * matches (domain.md 9.4), oldest price first.
 */
export async function createSubscription(
  { database, clock, createId }: Writing,
  caller: Caller,
  command: SubscriptionCommand,
): Promise<CreatedSubscription | Refusal> {
  const now = clock.now();
  const creation: NewSubscription = { caller, id: createId('subs'), now, command };
  return writeAs(database, caller, async (transaction): Promise<CreatedSubscription | Refusal> => {
    const parties = await findParties(transaction, command, now);
    if (isRefusal(parties)) return parties;
    const { customer, plan, prices } = parties;
    const refusal = priceRuleRefusal(command, prices, now);
    if (refusal !== null) return refusal;
    const owner = { subscriptionId: creation.id, nowMs: now };
    const overridden = overridePrices(prices, command.overrides, owner);
    if (isRefusal(overridden)) return overridden;
    const columns = subscriptionColumns(creation, parties);
    const [subscription] = await insertRows(transaction, SUBSCRIPTIONS, [columns]);
    if (subscription === undefined) return alreadyExists('subscription', 'lookup_key');
    const priced = await storeOverrides(transaction, creation, { overridden, createId });
    const lineItems = await storeLineItems(transaction, creation, { priced, parties, createId });
    return { subscription, lineItems, prices: priced.map(({ price }) => price), customer, plan };
  });
}
