import { createRecord } from '../../records/create-record.js';
import { expandRecord } from '../../records/expand-record.js';
import { holdPublished } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import { copyCreditGrants } from './copy-credit-grants.js';
import { copyEntitlements } from './copy-entitlements.js';
import { copyPrices } from '../prices/copy-prices.js';
import { planExpansions, type ExpandedPlan } from './plan-expansions.js';
import {
  PLANS,
  type ClonePlanBody,
  type PlanRow,
} from '../../declarations/catalog/plan.resource.js';

/** The new plan without what belongs to it, or what is wrong with the request. */
function newPlan(source: PlanRow, body: ClonePlanBody) {
  const reader = new MemberReader();
  const { description = source.description, display_order = source.display_order } = body;
  const plan = {
    name: body.name === undefined ? `${source.name} (copy)` : reader.name('name', body.name),
    description,
    display_order,
    late_usage: source.late_usage,
    lookup_key: body.lookup_key ?? null,
    metadata: reader.metadata({
      ...source.metadata,
      ...reader.metadata(body.metadata),
      source_plan_id: source.id,
    }),
  };
  return reader.refusal() ?? plan;
}

/** POST /plans/{id}/clone: a new plan with copies of what a new subscription would get. */
export const clonePlan = writeOperation(
  async (
    unit,
    { id, body }: { readonly id: string; readonly body: ClonePlanBody },
  ): Promise<ExpandedPlan> => {
    // Held: whoever writes its prices and entitlements locks the plan.
    const source = await holdPublished(unit, PLANS, id);
    const plan = accept(newPlan(source, body));
    const row = await createRecord(unit, PLANS, plan);
    const copy = { from: source.id, to: row.id };
    await copyPrices(unit, copy);
    await copyEntitlements(unit, copy);
    await copyCreditGrants(unit, copy);
    const expansions = planExpansions({ now: unit.now });
    return expandRecord(unit, row, expansions);
  },
);
