import type { Decimal } from '../../../contract/number/decimal.js';
import { mustGet } from '../../../runtime/failure.js';
import { PHASES, type PhaseRow } from '../../declarations/subscriptions/phase.resource.js';
import type { AttachedCoupon } from '../../declarations/coupons/coupon-association.resource.js';
import type { CreditGrantRow } from '../../declarations/credit-grants/credit-grant.resource.js';
import type { EntitlementRow } from '../../declarations/entitlements/entitlement.resource.js';
import type { AddonAssociationRow } from '../../declarations/subscriptions/addon-association.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import { createRecord } from '../../records/create-record.js';
import { accept } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { findSymbolsOfPrices } from '../../catalog/price-units/price-units-store.js';
import { withPricesOfBuckets } from '../../subscriptions/line-records.js';
import { storeLines, type StoredLines } from '../../subscriptions/lines/store-lines.js';
import { insertPeriods } from '../../subscriptions/periods/periods-store.js';
import type { RelatedRecords } from '../../subscriptions/related-records.js';
import { announceNewSubscription } from '../../subscriptions/subscription-events.js';
import type { KnownRecords } from '../../invoicing/compute/load-billing-records.js';
import { storeChildren } from '../groups/inherit.js';
import { endOnetimeAddons, endWithAddons, insertAddons, refuseMeeting } from './addons.js';
import { storeCouponsAndTaxes, storeGrants } from './adjustments.js';
import { storeEntitlements } from './entitlements.js';
import { holdPlan, type HeldPlan } from './hold-plan.js';
import { findNewLines, type NewLines } from './lines.js';
import type { MadeSubscription } from './made-subscription.js';
import { newLedger, newRow, timezoneOf } from './new-subscription-row.js';
import { storePhases, type IdentifiedPhase } from './phases.js';
import type { OpeningTerms, Owners } from './opening-terms.js';
import { findTrialEnd } from './trial.js';

/** A subscription that is stored, with what its parts are made from. */
type Opened = {
  readonly subscription: SubscriptionRow;
  readonly owners: Owners;
  readonly held: HeldPlan;
  readonly ledger: PeriodLedger;
  readonly lines: NewLines;
  readonly phases: readonly IdentifiedPhase[];
};

/** Stores the subscription with its first period and everything that belongs to it. */
export async function storeSubscription(
  unit: Unit,
  terms: OpeningTerms,
  owners: Owners,
): Promise<MadeSubscription> {
  const held = await holdPlan(unit, terms);
  const { customer } = owners;
  const id = unit.newId(SUBSCRIPTIONS.idPrefix);
  const phases = terms.own.phases.map((phase) => ({ ...phase, id: unit.newId(PHASES.idPrefix) }));
  const lines = await findNewLines(unit, { terms, phases, subscriptionId: id }, held);
  const { startMs } = terms;
  const timezone = timezoneOf(terms, customer);
  const trialEndMs = accept(findTrialEnd(terms, lines.lines, { startMs, timezone }));
  const ledger = newLedger(terms, { timezone, trialEndMs });
  const row = { ...newRow(terms, { ...owners, plan: held.plan }, ledger), id };
  const subscription = await createRecord(unit, SUBSCRIPTIONS, row);
  await insertPeriods(unit, [{ subscriptionId: id, period: ledger.periods[0] }]);
  announceNewSubscription(unit, subscription, customer);
  const addons = endOnetimeAddons(held.addons, ledger);
  const opened = {
    subscription,
    owners,
    ledger,
    phases,
    held: { ...held, addons },
    lines: { ...lines, lines: endWithAddons(lines.lines, addons) },
  };
  const parts = await storeParts(unit, terms, opened);
  const parent = await storeHeirs(unit, subscription, owners);
  return madeOf(unit, { ...opened, subscription: parent }, parts);
}

/** Stores the subscriptions of customers who inherit from a new one (docs/domain.md 29.1). */
async function storeHeirs(
  unit: Unit,
  subscription: SubscriptionRow,
  { heirs }: Owners,
): Promise<SubscriptionRow> {
  if (heirs.length === 0) return subscription;
  const children = heirs.map((customer) => ({ customer }));
  const startMs = subscription.start_date;
  const stored = await storeChildren(unit, subscription, { children, startMs });
  return stored.parent;
}

/** What belongs to a new subscription, as it was stored. */
type Parts = {
  readonly phases: readonly PhaseRow[];
  readonly associations: readonly AddonAssociationRow[];
  /** Of its plan and of its addons, then its own. */
  readonly entitlements: readonly EntitlementRow[];
  readonly creditGrants: readonly CreditGrantRow[];
  readonly stored: StoredLines;
  readonly coupons: readonly AttachedCoupon[];
};

/**
 * Stores the addons, entitlements, credit grants, lines, tax rates and coupons of a subscription.
 * Coupons come last: others who redeem the same one wait until the unit ends.
 */
async function storeParts(unit: Unit, terms: OpeningTerms, opened: Opened): Promise<Parts> {
  const { subscription, owners, held, lines } = opened;
  const { id: subscriptionId, start_date: startMs } = subscription;
  const { plan, addons } = held;
  const { adjustments } = terms.own;
  const phases = await storePhases(unit, subscriptionId, opened.phases);
  const entitled = await storeEntitled(unit, terms, opened);
  const sources = { planId: plan.id, addons, requested: adjustments.grants };
  // Credits begin where the subscription is billed from (docs/domain.md 21.1).
  const granted = { subscriptionId, startMs: subscription.trial_end ?? startMs };
  const creditGrants = await storeGrants(unit, sources, granted);
  const isRunning = false;
  const owner = { subscriptionId, customerId: owners.customer.id, startMs, plan, isRunning };
  const stored = await storeLines(unit, owner, lines);
  const { lineItems } = stored;
  const made = { subscription, phases: opened.phases, lines: lines.lines, lineItems };
  const coupons = await storeCouponsAndTaxes(unit, made, adjustments);
  return { ...entitled, phases, creditGrants, stored, coupons };
}

/** A subscription that comes in no other one's place has no allowances of another one. */
const NONE_LEFT: ReadonlyMap<string, Decimal> = new Map();

/** Stores which addons the subscription has, and its own entitlements. */
async function storeEntitled(
  unit: Unit,
  { own: { entitlements }, prorationBehavior, continues }: OpeningTerms,
  { subscription: { id: subscriptionId }, held: { plan, addons }, ledger }: Opened,
): Promise<Pick<Parts, 'associations' | 'entitlements'>> {
  const associations = await insertAddons(unit, subscriptionId, addons);
  const owners = [plan.id, ...addons.map(({ addon }) => addon.id)];
  const ofCatalog = await findEntitlementsOf(unit.tx, owners);
  await refuseMeeting(unit, addons, ofCatalog);
  const ofPlan = ofCatalog.filter((row) => row.entity_id === plan.id);
  const leftAllowances = continues?.allowances ?? NONE_LEFT;
  const entitled = { subscriptionId, ofPlan, ledger, prorationBehavior, leftAllowances };
  const own = await storeEntitlements(unit, entitled, entitlements);
  return { associations, entitlements: [...ofCatalog, ...own] };
}

/** Everything that belongs to a new subscription, as its answer and its invoices need it. */
async function relatedOf(
  unit: Unit,
  { held, owners }: Opened,
  { phases, creditGrants, coupons, stored: { lineItems, prices: known } }: Parts,
): Promise<RelatedRecords> {
  const { customer, payer } = owners;
  const { plan, addons } = held;
  const customers = payer === null ? [customer] : [customer, payer];
  const ofLines = lineItems.map((item) => mustGet(known, item.price_id, 'the price of a line'));
  const prices = await withPricesOfBuckets(unit.tx, ofLines, known);
  return {
    lineItems,
    prices,
    plans: new Map([[plan.id, plan]]),
    customers: new Map(customers.map((row) => [row.id, row])),
    coupons,
    creditGrants,
    pauses: [],
    phases,
    addons: new Map(addons.map(({ addon }) => [addon.id, addon])),
    symbols: await findSymbolsOfPrices(unit, prices.values()),
  };
}

/** What the opening invoice needs beside; whose usage counts is read where others inherit. */
function knownOf({ subscription: { id }, owners, lines }: Opened, parts: Parts): KnownRecords {
  const { id: customerId, external_id: externalId } = owners.customer;
  const entitlements = parts.entitlements.toSorted(
    (left, right) => left.created_at - right.created_at || (left.id < right.id ? -1 : 1),
  );
  const entitled = { associations: parts.associations, entitlements };
  const { meters } = lines;
  if (owners.heirs.length > 0) return { meters, entitled };
  return { meters, entitled, owners: new Map([[id, [{ customerId, externalId }]]]) };
}

async function madeOf(unit: Unit, opened: Opened, parts: Parts): Promise<MadeSubscription> {
  return {
    subscription: opened.subscription,
    related: await relatedOf(unit, opened, parts),
    periods: opened.ledger.periods,
    known: knownOf(opened, parts),
  };
}
