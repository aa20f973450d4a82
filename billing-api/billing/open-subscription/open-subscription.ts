import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { findMatchingPrices, noMatchProblem } from '../../catalog/prices/find-matching-prices.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import {
  SUBSCRIPTIONS,
  type NewSubscriptionRow,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { PHASES } from '../../declarations/subscriptions/phase.resource.js';
import { resolveBillingAnchor } from '../../domain/calendar/billing-boundaries.js';
import { openLedger } from '../../domain/periods/ledger-rows.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import { holdPublishedCustomer } from '../../owners/hold-customer.js';
import { holdPublishedPlan } from '../../owners/lock-plans.js';
import type { Occasion } from '../../records/occasion.js';
import { createRecord } from '../../records/create-record.js';
import { invalid, isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { pricesFrom } from '../../subscriptions/lines/succeeded-prices.js';
import { storeLines } from '../../subscriptions/lines/store-lines.js';
import type { LoadedSubscription } from '../../subscriptions/loaded-subscription.js';
import { insertPeriods } from '../../subscriptions/periods/periods-store.js';
import { findRelatedRecords } from '../../subscriptions/related-records.js';
import { announceNewSubscription } from '../../subscriptions/subscription-events.js';
import type { GatewayNeeds } from '../gateway-payments/pending-payment.js';
import {
  endOnetimeAddons,
  endWithAddons,
  holdAddons,
  storeAddons,
  type HeldAddon,
} from './addons.js';
import { storeCouponsAndTaxes, storeGrants } from './adjustments.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { storeEntitlements } from './entitlements.js';
import { findNewLines, type NewLines } from './lines.js';
import { findTrialEnd } from './trial.js';
import { addToGroup } from '../hierarchies/group.js';
import { lockCustomers, refuseBesideInherited, storeChildren } from '../hierarchies/inherit.js';
import { joinParent, type JoinRequest } from '../hierarchies/join-parent.js';
import { storePhases, type IdentifiedPhase } from './phases.js';
import { storeOpeningInvoice } from './opening-invoice.js';
import { findSharedMeters } from './shared-meters.js';
import { withFirstPayment } from './reserve-first.js';
import { settleOpening } from './settle-opening.js';
import { readSubscriptionBody, type SubscriptionRequest } from './subscription-request.js';

/** A new subscription, and other ones of the customer that bill the usage of the same meters. */
export type OpenedSubscription = LoadedSubscription & { readonly warnings: readonly string[] };

/**
 * POST /subscriptions: an active subscription, or a draft of one, with a line item for every price
 * of the plan that matches (docs/domain.md 9.4), oldest price first, and those of its own; and its
 * opening invoice, finalized, where it is charged in advance (docs/domain.md 22.1). A draft has
 * none.
 */
export async function openSubscription(
  needs: GatewayNeeds,
  occasion: Occasion,
  body: CreateSubscriptionBody,
): Promise<OpenedSubscription | Refusal> {
  return withFirstPayment(needs, occasion, async (unit, reservation) => {
    // Read and stored at one instant: what begins with the subscription begins exactly then.
    const request = readSubscriptionBody(body, unit.now);
    if (isRefusal(request)) return request;
    const { parentId } = request.inheritance;
    const subscription =
      parentId === null
        ? await storeSubscription(unit, request)
        : await joinParent(unit, joinRequestOf(request, parentId));
    if (isRefusal(subscription)) return subscription;
    const related = await findRelatedRecords(unit.tx, [subscription]);
    const warnings = await findSharedMeters(unit, subscription.id);
    if (request.isDraft || parentId !== null) {
      return { subscription, related, latestInvoice: null, warnings };
    }
    const { lineItems } = related;
    const opening = await storeOpeningInvoice(unit, { subscription, lineItems });
    if (isRefusal(opening)) return opening;
    const settled = await settleOpening(unit, subscription, { opening, reservation });
    if (isRefusal(settled)) return settled;
    return { subscription: settled, related, latestInvoice: opening?.row ?? null, warnings };
  });
}

/** Stores the subscription with its first period and everything that belongs to it. */
export async function storeSubscription(
  unit: Unit,
  request: SubscriptionRequest,
): Promise<SubscriptionRow | Refusal> {
  const held = await holdCustomerAndPlan(unit, request);
  if (isRefusal(held)) return held;
  const id = unit.newId(SUBSCRIPTIONS.idPrefix);
  const phases = request.phases.map((phase) => ({ ...phase, id: unit.newId(PHASES.idPrefix) }));
  const lines = await findNewLines(unit, { request, phases, subscriptionId: id }, held);
  if (isRefusal(lines)) return lines;
  const startMs = request.startMs ?? unit.now;
  const timezone = timezoneOf(request, held.customer);
  const trialEndMs = findTrialEnd(request, lines.lines, { startMs, timezone });
  if (isRefusal(trialEndMs)) return trialEndMs;
  const ledger = newLedger(request, held.customer, { now: unit.now, trialEndMs });
  const row = { ...newRow(request, held, ledger), id };
  const subscription = await createRecord(unit, SUBSCRIPTIONS, row);
  if (isRefusal(subscription)) return subscription;
  await insertPeriods(unit, [{ subscriptionId: id, period: ledger.periods[0] }]);
  await announceNewSubscription(unit, subscription);
  const addons = endOnetimeAddons(held.addons, ledger);
  const refusal = await storeParts(unit, request, {
    ...{ subscription, ledger, phases, held: { ...held, addons } },
    lines: { ...lines, lines: endWithAddons(lines.lines, addons) },
  });
  if (refusal !== null) return refusal;
  const parent = await storeHeirs(unit, subscription, held.heirs);
  if (isRefusal(parent)) return parent;
  const grouped = await addToGroup(unit, parent, request.inheritance.grouped);
  return isRefusal(grouped) ? grouped : grouped.parent;
}

/** Stores the subscriptions of customers who inherit from a new one (docs/domain.md 29.1). */
async function storeHeirs(
  unit: Unit,
  subscription: SubscriptionRow,
  heirs: readonly CustomerRow[],
): Promise<SubscriptionRow | Refusal> {
  if (heirs.length === 0) return subscription;
  const children = heirs.map(({ id: customerId }) => ({ customerId }));
  const startMs = subscription.start_date;
  const stored = await storeChildren(unit, subscription, { children, startMs });
  return isRefusal(stored) ? stored : stored.parent;
}

function joinRequestOf(request: SubscriptionRequest, parentId: string): JoinRequest {
  const { customerId, externalCustomerId, planId, currency, billingPeriod, kept } = request;
  return {
    ...{ parentId, customerId, externalCustomerId, planId, currency, billingPeriod },
    billingPeriodCount: request.billingPeriodCount,
    ...{ lookupKey: kept.lookup_key, metadata: kept.metadata ?? {} },
  };
}

/** A subscription that is stored, with what its parts are made from. */
type Opened = {
  readonly subscription: SubscriptionRow;
  readonly held: CustomerAndPlan;
  readonly ledger: PeriodLedger;
  readonly lines: NewLines;
  readonly phases: readonly IdentifiedPhase[];
};

/**
 * Stores the addons, entitlements, credit grants, lines, tax rates and coupons of a subscription.
 * Coupons come last: others who redeem the same one wait until the unit ends.
 */
async function storeParts(
  unit: Unit,
  request: SubscriptionRequest,
  { subscription, held, ledger, lines, phases }: Opened,
): Promise<Refusal | null> {
  const { id: subscriptionId, start_date: startMs } = subscription;
  const { customer, plan, addons } = held;
  const { prorationBehavior, entitlements, adjustments, leftAllowances } = request;
  const entitled = {
    ...{ subscriptionId, planId: plan.id, ledger, prorationBehavior, leftAllowances },
  };
  const refusal =
    (await storePhases(unit, subscriptionId, phases)) ??
    (await storeAddons(unit, subscriptionId, addons)) ??
    (await storeEntitlements(unit, entitled, entitlements));
  if (refusal !== null) return refusal;
  const sources = { planId: plan.id, addons, requested: adjustments.grants };
  // Credits begin where the subscription is billed from (docs/domain.md 21.1).
  const granted = { subscriptionId, startMs: subscription.trial_end ?? startMs };
  const grants = await storeGrants(unit, sources, granted);
  if (isRefusal(grants)) return grants;
  const isRunning = false;
  const owner = { subscriptionId, customerId: customer.id, startMs, plan, isRunning };
  const stored = await storeLines(unit, owner, lines);
  if (isRefusal(stored)) return stored;
  const made = { subscription, phases, lines: lines.lines, lineItems: stored.lineItems };
  const coupons = await storeCouponsAndTaxes(unit, made, adjustments);
  return isRefusal(coupons) ? coupons : null;
}

/** The customer, the plan and the addons of a request, held until the unit ends. */
type CustomerAndPlan = {
  readonly customer: CustomerRow;
  readonly plan: PlanRow;
  /** Prices of the plan that match the subscription (docs/domain.md 9.4), oldest first. */
  readonly planPrices: readonly PriceRow[];
  readonly addons: readonly HeldAddon[];
  /** Another customer, who pays; null where the customer pays itself. */
  readonly payer: CustomerRow | null;
  /** Locked customers who inherit. */
  readonly heirs: readonly CustomerRow[];
};

/** The customer who pays the invoices of another one's subscription. */
async function holdPayer(
  unit: Unit,
  { inheritance: { payer: named } }: SubscriptionRequest,
  customer: CustomerRow,
): Promise<CustomerRow | null | Refusal> {
  if (named === null) return null;
  const payer = await holdPublishedCustomer(unit.tx, named);
  if (payer === null) {
    return notFound('customer', assertPresent(named.id ?? named.externalId, 'the payer'));
  }
  if (payer.id !== customer.id) return payer;
  const member = 'inheritance.invoicing_customer_external_id';
  return invalid({ [member]: 'must name another customer; leave it out where the customer pays' });
}

async function holdCustomerAndPlan(
  unit: Unit,
  request: SubscriptionRequest,
): Promise<CustomerAndPlan | Refusal> {
  const { customerId, externalCustomerId, planId } = request;
  const reference = { id: customerId, externalId: externalCustomerId };
  const customer = await holdPublishedCustomer(unit.tx, reference);
  if (customer === null) {
    const name = assertPresent(customerId ?? externalCustomerId, 'the name of the customer');
    return notFound('customer', name);
  }
  const beside = await refuseBesideInherited(unit, customer.id);
  if (beside !== null) return beside;
  const payer = await holdPayer(unit, request, customer);
  if (isRefusal(payer)) return payer;
  const heirs = await lockCustomers(unit, request.inheritance.heirs);
  if (isRefusal(heirs)) return heirs;
  const plan = await holdPublishedPlan(unit.tx, planId);
  if (plan === null) return notFound('plan', planId);
  const matching = await findMatchingPrices(unit, request, [plan.id]);
  if (matching.length === 0) {
    return invalid({
      plan_id: await noMatchProblem(unit, request, { noun: 'plan', id: plan.id }),
    });
  }
  const planPrices = pricesFrom(matching, request.startMs ?? unit.now);
  // Behind the plan, as whoever gives them entitlements locks them.
  const addons = await holdAddons(unit, request);
  return isRefusal(addons) ? addons : { customer, payer, heirs, plan, planPrices, addons };
}

/** The time zone of a subscription (docs/domain.md 12.6). */
function timezoneOf({ customerTimezone }: SubscriptionRequest, customer: CustomerRow): string {
  return customerTimezone ?? customer.timezone ?? 'UTC';
}

/** The ledger of the new subscription, with its first period. */
function newLedger(
  request: SubscriptionRequest,
  customer: CustomerRow,
  { now, trialEndMs }: { readonly now: InstantMs; readonly trialEndMs: InstantMs | null },
): PeriodLedger {
  const { billingCycle, billingPeriod } = request;
  const timezone = timezoneOf(request, customer);
  const startMs = request.startMs ?? now;
  const terms = {
    billingCadence: request.billingCadence,
    billingCycle,
    billingPeriod,
    billingPeriodCount: request.billingPeriodCount,
    timezone,
    endMs: request.endMs,
  };
  const billingAnchorMs = resolveBillingAnchor({
    billingCycle,
    billingPeriod,
    startMs,
    billingAnchorMs: request.billingAnchorMs,
    timezone,
  });
  return openLedger(terms, { startMs, billingAnchorMs, trialEndMs });
}

/** Where a commitment that goes on began; nothing for one that begins. */
function commitmentColumns({ commitmentFrom = null }: SubscriptionRequest) {
  if (commitmentFrom === null) return { commitment_start: null, commitment_origin_id: null };
  const { startMs, originId } = commitmentFrom;
  return { commitment_start: startMs, commitment_origin_id: originId };
}

/** The row of a new subscription. */
function newRow(
  request: SubscriptionRequest,
  { customer, payer, plan }: CustomerAndPlan,
  ledger: PeriodLedger,
): NewSubscriptionRow {
  const [period] = ledger.periods;
  const isTrial = period.kind === 'trial';
  const waiting = request.isIncomplete ? ('incomplete' as const) : ('active' as const);
  const begun = isTrial ? ('trialing' as const) : waiting;
  return {
    ...request.kept,
    ...commitmentColumns(request),
    customer_id: customer.id,
    invoicing_customer_id: payer?.id ?? null,
    plan_id: plan.id,
    parent_subscription_id: null,
    subscription_status: request.isDraft ? 'draft' : begun,
    subscription_type: payer === null ? 'standalone' : 'delegated_invoicing',
    currency: request.currency,
    billing_cadence: ledger.billingCadence,
    billing_cycle: ledger.billingCycle,
    billing_period: ledger.billingPeriod,
    billing_period_count: ledger.billingPeriodCount,
    billing_anchor: period.anchor.atMs,
    start_date: period.startMs,
    end_date: request.endMs,
    current_period_start: period.startMs,
    current_period_end: period.endMs,
    customer_timezone: ledger.timezone,
    proration_behavior: request.prorationBehavior,
    synced_price_sequence: plan.price_sequence,
    cancel_at: null,
    cancel_at_period_end: false,
    cancelled_at: null,
    trial_start: isTrial ? period.startMs : null,
    trial_end: isTrial ? period.endMs : null,
    pause_status: 'none',
    active_pause_id: null,
    version: 1,
  };
}
