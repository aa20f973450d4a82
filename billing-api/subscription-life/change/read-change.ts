import type { InstantMs } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { findMatchingPrices, noMatchProblem } from '../../catalog/prices/find-matching-prices.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { PLANS, type PlanRow } from '../../declarations/catalog/plan.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { AddonAssociationRow } from '../../declarations/subscriptions/addon-association.resource.js';
import { isLonger, onePeriod, wholePeriodsIn } from '../../domain/calendar/billing-length.js';
import { billedFromMs } from '../../domain/periods/ledger-periods.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { ADDON_ASSOCIATION, SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { findRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { invalid, isRefusal, notFound, Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { findHeirs } from '../../subscriptions/children-store.js';
import { endedPeriodRefusal } from '../../subscriptions/ended-period.js';
import { findAddonAssociations } from '../../subscriptions/addon-associations-store.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { paidBy } from '../open/inheritance-request.js';
import { isChargedAtStart } from '../open/opening-invoice.js';
import type { ContinuedCommitment, SubscriptionRequest } from '../open/subscription-request.js';
import { findPhases } from '../../subscriptions/phases-store.js';
import { pendingRefusal } from '../../subscriptions/schedules-store.js';
import { findUnused, type UnusedItem } from '../settle/find-unused.js';
import { readOverrides } from '../../subscriptions/lines/override-lines.js';
import type { ChangeSubscriptionBody } from './change-dto.js';
import { keptQuantities } from './kept-quantities.js';
import { findGroup, groupRefusal, termsInGroup, type Group } from './group-of-change.js';

/** A change of plan that can be carried out. */
export type PlanChange = {
  readonly loaded: BilledSubscription;
  readonly atMs: InstantMs;
  readonly plans: { readonly current: PlanRow; readonly target: PlanRow };
  /** The subscription that takes the place of the old one. */
  readonly request: SubscriptionRequest;
  /** At the end of a period, of which usage may still come in. */
  readonly isAtPeriodEnd: boolean;
  /** What is unused of charges in advance; nothing without prorations. */
  readonly unused: readonly UnusedItem[];
  /** Whether the new subscription has an opening invoice, on which the credit is set off. */
  readonly isChargedAtOnce: boolean;
  /** The subscriptions with which it is billed together (docs/domain.md 25.8); null for none. */
  readonly group: Group | null;
};

const CHANGEABLE: ReadonlySet<string> = new Set([
  'standalone',
  'delegated_invoicing',
  'parent',
  'grouped_invoicing',
]);

/** Why a subscription cannot change its plan now (docs/domain.md 25.1); null when it can. */
function stateProblem(row: SubscriptionRow, targetPlanId: string): string | null {
  const { subscription_status: status, subscription_type: type } = row;
  if (!isIn(SUBSCRIPTION, 'running', status)) {
    return `the subscription is ${status}; only the plan of an active or trialing one is changed`;
  }
  if (!CHANGEABLE.has(type)) return `the plan of a subscription of type ${type} cannot be changed`;
  if (row.plan_id === targetPlanId) return 'the subscription has this plan already';
  if (row.cancel_at !== null) {
    return 'the subscription is about to be cancelled; a change of its plan would have no use';
  }
  return null;
}

function stateRefusal(row: SubscriptionRow, targetPlanId: string): Refusal | null {
  const problem = stateProblem(row, targetPlanId);
  return problem === null ? null : new Refusal('invalid_operation', problem);
}

const everyOf = (terms: Pick<SubscriptionRow, 'billing_period' | 'billing_period_count'>) => ({
  billingPeriod: terms.billing_period,
  billingPeriodCount: terms.billing_period_count,
});

/** Why the commitment of a subscription cannot go on under these periods; null when it can. */
function commitmentRefusal(row: SubscriptionRow, body: ChangeSubscriptionBody): Refusal | null {
  const { commitment_duration: duration } = row;
  if (row.commitment_amount === null || duration === null) return null;
  if (wholePeriodsIn(onePeriod(duration), everyOf(body)) !== null) return null;
  const problem = `a commitment lasts one or more whole billing periods, and this one is for ${duration}; choose periods that divide it, or cancel the subscription and make another one`;
  return invalid({ billing_period: problem });
}

/**
 * Where a commitment that lasts longer than the new billing periods began, and since when its
 * windows are counted; null where it begins anew with the new subscription (docs/domain.md 11.2).
 */
function continuedCommitment(
  { subscription: row, terms }: BilledSubscription,
  body: ChangeSubscriptionBody,
): ContinuedCommitment | null {
  const { commitment_duration: duration, subscription_status: status } = row;
  if (row.commitment_amount === null || duration === null || status === 'trialing') return null;
  if (!isLonger(onePeriod(duration), everyOf(body))) return null;
  const wasLonger = isLonger(onePeriod(duration), everyOf(row));
  return {
    originId: row.commitment_origin_id ?? row.id,
    startMs: wasLonger ? (row.commitment_start ?? billedFromMs(terms)) : row.current_period_start,
  };
}

/** The addons of a subscription, which go on from the instant of the change. */
function requestedAddons(associations: readonly AddonAssociationRow[], atMs: InstantMs) {
  return (
    associations
      .filter(({ addon_status: status }) => isIn(ADDON_ASSOCIATION, 'alive', status))
      // A onetime addon ends with the period that it was charged for, and is not refunded.
      .filter(({ cadence, end_date: end }) => cadence === 'recurring' && (end ?? Infinity) > atMs)
      .map((row, index) => ({
        place: `addons.${index}`,
        addonId: row.addon_id,
        cadence: 'recurring' as const,
        startMs: Math.max(row.start_date, atMs),
        endMs: row.end_date,
      }))
  );
}

function requestOf(
  row: SubscriptionRow,
  body: ChangeSubscriptionBody,
  known: Pick<SubscriptionRequest, 'addons'> & {
    readonly atMs: InstantMs;
    readonly heirs: readonly string[];
    readonly payerId: string | null;
    readonly billingAnchorMs: InstantMs | null;
    readonly commitmentFrom: ContinuedCommitment | null;
  },
): SubscriptionRequest {
  return {
    customerId: row.customer_id,
    externalCustomerId: null,
    planId: body.target_plan_id,
    currency: row.currency,
    customerTimezone: row.customer_timezone,
    addons: known.addons,
    phases: [],
    billingPeriod: body.billing_period,
    billingPeriodCount: body.billing_period_count,
    billingCadence: body.billing_cadence,
    billingCycle: body.billing_cycle,
    billingAnchorMs: known.billingAnchorMs,
    startMs: known.atMs,
    endMs: row.end_date,
    prorationBehavior: body.proration_behavior === 'none' ? 'none' : 'create_prorations',
    trialDays: 0,
    isDraft: false,
    isIncomplete: row.payment_behavior !== 'default_active',
    overrides: [],
    addedLines: [],
    commitments: [],
    entitlements: [],
    adjustments: { coupons: [], taxes: [], grants: [] },
    inheritance: { ...paidBy(known.payerId), heirs: known.heirs },
    leftAllowances: new Map(),
    commitmentFrom: known.commitmentFrom,
    kept: {
      lookup_key: row.lookup_key,
      collection_method: row.collection_method,
      payment_behavior: row.payment_behavior,
      payment_terms: row.payment_terms,
      gateway_payment_method_id: row.gateway_payment_method_id,
      commitment_amount: row.commitment_amount,
      overage_factor: row.overage_factor,
      commitment_duration: row.commitment_duration,
      enable_true_up: row.enable_true_up,
      auto_invoice_threshold: row.auto_invoice_threshold,
      late_usage: row.late_usage,
      metadata: { ...row.metadata, ...body.metadata },
    },
  };
}

/** The prices of the target plan that match; there is at least one. */
async function findTargetPrices(
  unit: ReadUnit,
  request: SubscriptionRequest,
): Promise<readonly PriceRow[] | Refusal> {
  const ofPlan = await findMatchingPrices(unit, request, [request.planId]);
  if (ofPlan.length > 0) return ofPlan;
  const problem = await noMatchProblem(unit, request, { noun: 'plan', id: request.planId });
  return invalid({ target_plan_id: problem });
}

/** What the new lines have instead of what their prices say. */
function overridesOf(
  { related }: BilledSubscription,
  body: ChangeSubscriptionBody,
  known: { readonly prices: readonly PriceRow[]; readonly atMs: InstantMs },
): SubscriptionRequest['overrides'] | Refusal {
  const reader = new MemberReader();
  const given = readOverrides(reader, body.override_line_items);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return body.keep_quantities === true ? keptQuantities(related.lineItems, known, given) : given;
}

/** Whether some price that the new subscription takes over is charged when it opens. */
async function isChargedAtOnce(
  unit: ReadUnit,
  request: SubscriptionRequest,
  ofPlan: readonly PriceRow[],
): Promise<boolean> {
  const addonIds = request.addons.map(({ addonId }) => addonId);
  const ofAddons = await findMatchingPrices(unit, request, addonIds);
  return [...ofPlan, ...ofAddons].some(isChargedAtStart);
}

function membersProblem(body: ChangeSubscriptionBody): Refusal | null {
  const reader = new MemberReader();
  reader.metadata(body.metadata);
  if (body.change_at === 'end_of_period' && body.preview_token !== undefined) {
    reader.note(
      'preview_token',
      'must be left out with end_of_period: its figures are not known yet',
    );
  }
  return reader.refusal();
}

/** A change that is asked for, or that a schedule asks for (null when none does). */
export type ChangeRequest = {
  readonly target: ChangeTarget;
  readonly body: ChangeSubscriptionBody;
  readonly scheduleId: string | null;
};

/** The plan is the same in all phases (docs/domain.md 28). */
async function phasesRefusal(unit: ReadUnit, id: string): Promise<Refusal | null> {
  const phases = await findPhases(unit, [id]);
  const problem = 'the subscription has phases; cancel it and make another one of the other plan';
  return phases.length === 0 ? null : new Refusal('invalid_operation', problem);
}

/** The plan that a subscription changes to, or why it cannot. */
async function findTargetPlan(
  unit: ReadUnit,
  row: SubscriptionRow,
  { body, scheduleId }: Pick<ChangeRequest, 'body' | 'scheduleId'>,
): Promise<PlanRow | Refusal> {
  const plan = await findRecord(unit, PLANS, body.target_plan_id);
  if (plan?.status !== 'published') return notFound('plan', body.target_plan_id);
  const refusal =
    stateRefusal(row, plan.id) ??
    (await pendingRefusal(unit, row.id, scheduleId)) ??
    (await phasesRefusal(unit, row.id)) ??
    commitmentRefusal(row, body);
  return refusal ?? plan;
}

/** The subscription that is wanted in place of one, and the group that it is billed with. */
async function readRequest(
  unit: ReadUnit,
  loaded: BilledSubscription,
  body: ChangeSubscriptionBody,
): Promise<Pick<PlanChange, 'request' | 'group'> | Refusal> {
  const { subscription: row } = loaded;
  const group = await findGroup(unit, row);
  const refusal = group === null ? null : groupRefusal(loaded, body);
  if (refusal !== null) return refusal;
  const associations = await findAddonAssociations(unit.tx, [row.id]);
  const request = requestOf(row, body, {
    atMs: unit.now,
    addons: requestedAddons(associations, unit.now),
    heirs: await findHeirs(unit, row.id),
    ...termsInGroup(group, loaded, body),
    commitmentFrom: continuedCommitment(loaded, body),
  });
  return { request, group };
}

/** Why a change cannot be asked for like this, or not yet; null when it can. */
function requestRefusal(
  unit: ReadUnit,
  { subscription: row }: BilledSubscription,
  { target, body }: ChangeRequest,
): Refusal | null {
  const wrong = membersProblem(body) ?? targetRefusal(SUBSCRIPTIONS, row, target);
  if (wrong !== null) return wrong;
  const isRunning = isIn(SUBSCRIPTION, 'running', row.subscription_status);
  // Its next period has begun, which the job has not recorded yet.
  return isRunning && unit.now > row.current_period_end ? endedPeriodRefusal(row) : null;
}

/** Reads a change of plan as it would be carried out at the instant of the unit. */
export async function readChange(
  unit: ReadUnit,
  asked: ChangeRequest,
): Promise<PlanChange | Refusal> {
  const { target, body } = asked;
  const loaded = await loadBilledSubscription(unit, target.id);
  if (isRefusal(loaded)) return loaded;
  const { subscription: row, related } = loaded;
  const refusal = requestRefusal(unit, loaded, asked);
  if (refusal !== null) return refusal;
  const plan = await findTargetPlan(unit, row, asked);
  if (isRefusal(plan)) return plan;
  const read = await readRequest(unit, loaded, body);
  if (isRefusal(read)) return read;
  const prices = await findTargetPrices(unit, read.request);
  if (isRefusal(prices)) return prices;
  const overrides = overridesOf(loaded, body, { prices, atMs: unit.now });
  if (isRefusal(overrides)) return overrides;
  const request = { ...read.request, overrides };
  const isCharged = await isChargedAtOnce(unit, request, prices);
  const isProrated = request.prorationBehavior === 'create_prorations';
  return {
    group: read.group,
    request,
    loaded,
    atMs: unit.now,
    isChargedAtOnce: isCharged,
    isAtPeriodEnd: body.change_at === 'end_of_period',
    plans: { current: mustGet(related.plans, row.plan_id, 'the plan'), target: plan },
    unused: isProrated ? await findUnused(unit, loaded, unit.now) : [],
  };
}
