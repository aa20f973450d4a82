import type { InstantMs } from '../../../contract/instant.js';
import { billingLengthOf } from '../../domain/calendar/billing-length.js';
import { firstPeriod, resolveBillingAnchor } from '../../domain/calendar/billing-periods.js';
import { matchingPrices } from '../../domain/price/matching-prices.js';
import type { PriceTerms } from '../../domain/price/price.js';
import type { SubscriptionTerms } from '../../domain/invoice/subscription-terms.js';
import type { CustomerRow } from '../../customers/customer.resource.js';
import { holdPublishedCustomer } from '../../customers/customers-store.js';
import { ENTITLEMENTS, findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import { findMetersForUse } from '../../catalog/meters/meters-store.js';
import type { PlanRow } from '../../catalog/plans/plan.resource.js';
import { holdPublishedPlan } from '../../catalog/plans/plans-store.js';
import { priceFromRow } from '../../catalog/prices/price-terms.js';
import { findLivePrices, findPrices, type PriceRow } from '../../catalog/prices/prices-store.js';
import { insertRows, instantValue, newRecordColumns, type NewRow } from '../../records/records.js';
import { SUBSCRIPTIONS, type LineItemRow, type SubscriptionRow } from '../subscriptions-store.js';
import { type Transaction, type WriteDependencies, writeUnit } from '../../records/unit.js';
import { draftAddedLines } from './added-lines.js';
import type { Caller } from '../../records/caller.js';
import { commitLines } from '../lines/commit-lines.js';
import { termsOfDraft, type DraftContext, type LineDraft } from '../lines/line-draft.js';
import { draftPlanLines } from '../lines/override-prices.js';
import {
  alreadyExists,
  invalid,
  isRefusal,
  notFound,
  type Refusal,
} from '../../records/refusal.js';
import { storeLines } from '../lines/store-lines.js';
import { overriddenEntitlements, scaledEntitlements } from './subscription-entitlements.js';
import { termsFrom, type SubscriptionCommand } from './subscription-request.js';

export type CreatedSubscription = {
  readonly subscription: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
  readonly prices: ReadonlyMap<string, PriceRow>;
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

function hasMixedPeriods(prices: readonly PriceTerms[]): boolean {
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
  drafts: readonly LineDraft[],
  now: InstantMs,
): Refusal | null {
  const prices = drafts.map(({ price }) => termsOfDraft(price));
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

type NewSubscription = Pick<WriteDependencies, 'createId'> & {
  readonly caller: Caller;
  readonly id: string;
  readonly now: InstantMs;
  readonly command: SubscriptionCommand;
};

/** What decides the periods of the new subscription. */
function termsOf({ command, now }: NewSubscription, customer: CustomerRow): SubscriptionTerms {
  const timezone = command.customerTimezone ?? customer.timezone ?? 'UTC';
  const startMs = command.startMs ?? now;
  const { billingCycle, billingPeriod, billingAnchorMs: requested } = command;
  const request = { billingCycle, billingPeriod, startMs, billingAnchorMs: requested, timezone };
  return termsFrom(command, { startMs, billingAnchorMs: resolveBillingAnchor(request), timezone });
}

function subscriptionColumns(
  creation: NewSubscription,
  parties: Parties,
  terms: SubscriptionTerms,
): NewRow {
  const { command, now } = creation;
  const period = firstPeriod(terms);
  return {
    ...newRecordColumns(creation.caller, creation.id, now),
    ...command.kept,
    customer_id: parties.customer.id,
    plan_id: parties.plan.id,
    subscription_status: 'active',
    subscription_type: 'standalone',
    currency: terms.currency,
    billing_cadence: terms.billingCadence,
    billing_cycle: terms.billingCycle,
    billing_period: terms.billingPeriod,
    billing_period_count: terms.billingPeriodCount,
    billing_anchor: instantValue(terms.billingAnchorMs),
    start_date: instantValue(terms.startMs),
    end_date: instantValue(command.endMs),
    current_period_start: instantValue(period.startMs),
    current_period_end: instantValue(period.endMs),
    customer_timezone: terms.timezone,
    proration_behavior: terms.prorationBehavior,
    synced_price_sequence: parties.plan.price_sequence,
    cancel_at_period_end: false,
    pause_status: 'none',
    version: 1,
  };
}

/** The prices that the request names beside those of the plan. */
function namedPriceIds({ addedLines, commitments }: SubscriptionCommand): readonly string[] {
  const prices = [...addedLines, ...commitments.flatMap(({ timeBuckets }) => timeBuckets)];
  return prices.flatMap(({ price }) => ('id' in price ? [price.id] : []));
}

function inlineMeterIds({ addedLines, commitments }: SubscriptionCommand): readonly string[] {
  const prices = [...addedLines, ...commitments.flatMap(({ timeBuckets }) => timeBuckets)];
  return prices.flatMap(({ price }) => ('id' in price ? [] : (price.request.meterId ?? [])));
}

async function findContext(
  transaction: Transaction,
  { command, id, now }: NewSubscription,
  planPrices: readonly PriceRow[],
): Promise<DraftContext> {
  const { currency, billingPeriod, billingPeriodCount } = command;
  const prices = await findPrices(transaction, namedPriceIds(command));
  const rows = [...planPrices, ...prices.values()];
  const meterIds = rows.flatMap((row) => row.meter_id ?? []);
  const meters = await findMetersForUse(transaction, [...meterIds, ...inlineMeterIds(command)]);
  const subscription = { currency, billingPeriod, billingPeriodCount, subscriptionId: id };
  return { ...subscription, now, prices, meters };
}

/** The lines of the subscription in line order: those of its plan, then its own. */
function draftLines(
  command: SubscriptionCommand,
  planPrices: readonly PriceRow[],
  context: DraftContext,
): readonly LineDraft[] | Refusal {
  const ofPlan = draftPlanLines(planPrices, command.overrides, context);
  if (isRefusal(ofPlan)) return ofPlan;
  const added = draftAddedLines(command.addedLines, context);
  if (isRefusal(added)) return added;
  const drafts = commitLines([...ofPlan, ...added], command.commitments, context);
  if (isRefusal(drafts)) return drafts;
  return priceRuleRefusal(command, drafts, context.now) ?? drafts;
}

/** Stores the entitlements that the subscription has in place of those of its plan. */
async function storeEntitlements(
  transaction: Transaction,
  { caller, id, now, command, createId }: NewSubscription,
  owner: { readonly planId: string; readonly terms: SubscriptionTerms },
): Promise<Refusal | null> {
  const ofPlan = await findEntitlementsOf(transaction, [owner.planId]);
  const overridden = overriddenEntitlements(ofPlan, command.entitlements, id);
  if (isRefusal(overridden)) return overridden;
  const first = { subscriptionId: id, period: firstPeriod(owner.terms) };
  const rows = [...overridden, ...scaledEntitlements(ofPlan, owner.terms, first)];
  const ids = rows.map(() => createId('ent')).sort();
  await insertRows(
    transaction,
    ENTITLEMENTS,
    rows.map((row, index) => ({ ...newRecordColumns(caller, ids[index] ?? '', now), ...row })),
  );
  return null;
}

async function storeSubscription(
  transaction: Transaction,
  creation: NewSubscription,
): Promise<CreatedSubscription | Refusal> {
  const { command, now } = creation;
  const parties = await findParties(transaction, command, now);
  if (isRefusal(parties)) return parties;
  const { customer, plan, prices: planPrices } = parties;
  const context = await findContext(transaction, creation, planPrices);
  const drafts = draftLines(command, planPrices, context);
  if (isRefusal(drafts)) return drafts;
  const terms = termsOf(creation, customer);
  const columns = subscriptionColumns(creation, parties, terms);
  const [subscription] = await insertRows(transaction, SUBSCRIPTIONS, [columns]);
  if (subscription === undefined) return alreadyExists('subscription', 'lookup_key');
  const refusal = await storeEntitlements(transaction, creation, { planId: plan.id, terms });
  if (refusal !== null) return refusal;
  const { caller, createId, id: subscriptionId } = creation;
  const { startMs } = terms;
  const owner = { caller, createId, subscriptionId, now, startMs, customer, plan };
  const stored = await storeLines(transaction, owner, { drafts, meters: context.meters });
  return isRefusal(stored) ? stored : { subscription, ...stored, customer, plan };
}

/**
 * POST /subscriptions: an active subscription with a line item for every price of the plan that
 * matches (domain.md 9.4), oldest price first, and those of its own.
 */
export async function createSubscription(
  { database, clock, createId }: WriteDependencies,
  caller: Caller,
  command: SubscriptionCommand,
): Promise<CreatedSubscription | Refusal> {
  const id = createId('subs');
  const creation: NewSubscription = { caller, createId, id, now: clock.now(), command };
  return writeUnit({ database, clock, createId }, caller, ({ tx: transaction }) =>
    storeSubscription(transaction, creation),
  );
}
