import { mustGet } from '../../../runtime/failure.js';
import { findMatchingPrices, noMatchProblem } from '../../catalog/prices/find-matching-prices.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { PLANS, type PlanRow } from '../../declarations/catalog/plan.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { findRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept, invalid, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { findHeirs } from '../../subscriptions/children-store.js';
import { endedPeriodRefusal } from '../../subscriptions/ended-period.js';
import { findAddonAssociations } from '../../subscriptions/addon-associations-store.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import type { ReadEnding } from '../cancel/final-invoice.js';
import { isChargedAtStart } from '../open/opening-invoice.js';
import type { OpeningTerms } from '../open/opening-terms.js';
import { findPhases } from '../../subscriptions/phases-store.js';
import { creditsOf, setOffOf } from '../settle/credit-lines.js';
import { planCredits } from '../settle/plan-credits.js';
import { findUnused } from '../settle/find-unused.js';
import { readOverrides } from '../../subscriptions/lines/override-lines.js';
import type { ChangeSubscriptionBody } from './change-dto.js';
import { keptQuantities } from './kept-quantities.js';
import { anchorInGroup, findGroup, groupRefusal, type Group } from './group-of-change.js';
import { commitmentRefusal, termsOfChange } from './terms-of-change.js';

/** A change of plan that can be carried out: the old subscription ends, with a final invoice. */
export type PlanChange = ReadEnding & {
  readonly plan: PlanRow;
  /** Those of the subscription that takes the place of the old one. */
  readonly terms: OpeningTerms;
  /** The external ids of customers who inherit from it. */
  readonly heirs: readonly string[];
  /** At the end of a period, of which usage may still come in. */
  readonly isAtPeriodEnd: boolean;
  /** Whether the new subscription has an opening invoice, on which the credit is set off. */
  readonly isChargedAtOnce: boolean;
  /** The subscriptions with which it is billed together (docs/domain.md 25.8); null for none. */
  readonly group: Group | null;
  /** The schedule that asks for the change; null when none does. */
  readonly scheduleId: string | null;
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

/** The plan is the same in all phases (docs/domain.md 28). */
async function phasesProblem(unit: ReadUnit, id: string): Promise<string | null> {
  const phases = await findPhases(unit, [id]);
  return phases.length === 0
    ? null
    : 'the subscription has phases; cancel it and make another one of the other plan';
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

/** @throws Refused when a change cannot be asked for like this, or not yet. */
async function refuseRequest(
  unit: ReadUnit,
  loaded: BilledSubscription,
  { target, body }: ChangeRequest,
): Promise<void> {
  const { subscription: row } = loaded;
  accept(membersProblem(body) ?? targetRefusal(SUBSCRIPTIONS, row, target));
  const isRunning = isIn(SUBSCRIPTION, 'running', row.subscription_status);
  // Its next period has begun, which the job has not recorded yet.
  if (isRunning && unit.now > row.current_period_end) throw new Refused(endedPeriodRefusal(row));
  const problem = stateProblem(row, body.target_plan_id) ?? (await phasesProblem(unit, row.id));
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
  accept(commitmentRefusal(row, body));
}

/** The prices of the target plan and of the addons that match; there is one of the plan. */
async function findPrices(unit: ReadUnit, terms: OpeningTerms): Promise<readonly PriceRow[]> {
  const { planId, addons } = terms;
  const owners = [planId, ...addons.map(({ addonId }) => addonId)];
  const prices = await findMatchingPrices(unit, terms, owners);
  if (prices.some(({ entity_id: id }) => id === planId)) return prices;
  const plan = await findRecord(unit, PLANS, planId);
  if (plan?.status !== 'published') throw new Refused(notFound('plan', planId));
  const problem = await noMatchProblem(unit, terms, { noun: 'plan', id: planId });
  throw new Refused(invalid({ target_plan_id: problem }));
}

/** What the new lines have instead of what their prices say. */
function overridesOf(
  { related }: BilledSubscription,
  body: ChangeSubscriptionBody,
  known: { readonly prices: readonly PriceRow[]; readonly atMs: number },
): OpeningTerms['overrides'] | Refusal {
  const reader = new MemberReader();
  const given = readOverrides(reader, body.override_line_items);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return body.keep_quantities === true ? keptQuantities(related.lineItems, known, given) : given;
}

/** The terms that are wanted in place of those of a subscription; whether they charge at once. */
async function readTerms(
  unit: ReadUnit,
  loaded: BilledSubscription,
  { body, group }: { readonly body: ChangeSubscriptionBody; readonly group: Group | null },
): Promise<Pick<PlanChange, 'terms' | 'isChargedAtOnce'>> {
  const { now: atMs } = unit;
  const associations = await findAddonAssociations(unit.tx, [loaded.subscription.id]);
  const billingAnchorMs = anchorInGroup(group, loaded, body);
  const terms = termsOfChange(loaded, body, { atMs, associations, billingAnchorMs });
  const prices = await findPrices(unit, terms);
  const ofPlan = prices.filter(({ entity_id: id }) => id === terms.planId);
  const overrides = accept(overridesOf(loaded, body, { prices: ofPlan, atMs }));
  return { terms: { ...terms, overrides }, isChargedAtOnce: prices.some(isChargedAtStart) };
}

/** Reads a change of plan as it would be carried out at the instant of the unit. */
export async function readChange(unit: ReadUnit, asked: ChangeRequest): Promise<PlanChange> {
  const { target, body, scheduleId } = asked;
  const loaded = await loadBilledSubscription(unit, target.id);
  const { subscription: row, related } = loaded;
  await refuseRequest(unit, loaded, asked);
  const group = await findGroup(unit, row);
  accept(group === null ? null : groupRefusal(loaded, body));
  const read = await readTerms(unit, loaded, { body, group });
  const { terms, isChargedAtOnce } = read;
  // Else the opening invoice takes the credit off, or the parent bills the last period.
  const isSetOff = terms.prorationBehavior !== 'none' && !isChargedAtOnce && !isChildOf(group);
  const unused = isSetOff ? await findUnused(unit, loaded, unit.now) : [];
  // Invoices that are not paid are lowered before anything is set off.
  const planned = await planCredits(unit, creditsOf(unused, row.currency));
  return {
    loaded,
    atMs: unit.now,
    final: { isContinued: true, unused: setOffOf(unused, planned, row.currency) },
    plan: mustGet(related.plans, row.plan_id, 'the plan'),
    terms,
    heirs: row.subscription_type === 'parent' ? await findHeirs(unit, row.id) : [],
    isAtPeriodEnd: body.change_at === 'end_of_period',
    isChargedAtOnce,
    group,
    scheduleId,
  };
}

/** Whether the invoices of another subscription bill it. */
export const isChildOf = (group: Group | null): boolean => group?.isChild === true;
