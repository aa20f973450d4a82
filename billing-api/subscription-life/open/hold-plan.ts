import { findMatchingPrices, noMatchProblem } from '../../catalog/prices/find-matching-prices.js';
import { ADDONS } from '../../declarations/catalog/addon.resource.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { holdPublishedPlan } from '../../owners/lock-plans.js';
import { holdRecords } from '../../records/find-record.js';
import { invalid, notFound, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { pricesFrom } from '../../subscriptions/lines/succeeded-prices.js';
import { heldAddons, idsOfAddons, type HeldAddon } from './addons.js';
import type { OpeningTerms } from './opening-terms.js';

/** The plan and the addons of a new subscription, held until the unit ends. */
export type HeldPlan = {
  readonly plan: PlanRow;
  /** Prices of the plan that match the subscription (docs/domain.md 9.4), oldest first. */
  readonly planPrices: readonly PriceRow[];
  readonly addons: readonly HeldAddon[];
};

/** The plan and the addons of a new subscription, which must be there. */
export async function holdPlan(unit: Unit, terms: OpeningTerms): Promise<HeldPlan> {
  const plan = await holdPublishedPlan(unit.tx, terms.planId);
  if (plan === null) throw new Refused(notFound('plan', terms.planId));
  // Behind the plan, as whoever gives them entitlements locks them.
  const ids = idsOfAddons(terms);
  const rows = await holdRecords(unit, ADDONS, ids);
  const matching = await findMatchingPrices(unit, terms, [plan.id, ...ids]);
  const ofPlan = matching.filter((price) => price.entity_id === plan.id);
  if (ofPlan.length === 0) {
    throw new Refused(
      invalid({
        plan_id: await noMatchProblem(unit, terms, { noun: 'plan', id: plan.id }),
      }),
    );
  }
  const planPrices = pricesFrom(ofPlan, terms.startMs);
  const addons = await heldAddons(unit, terms, { rows, matching });
  return { plan, planPrices, addons };
}
