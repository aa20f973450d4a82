import type { Occasion } from '../../records/occasion.js';
import { changeRecord, removeRecord, type ChangeTarget } from '../../records/change-record.js';
import { hasText, isOneOfAsked } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { expandRecord, readExpanded } from '../../records/expand-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import type { Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readOperation, writeOperation } from '../../records/operation.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import { readLateUsage } from '../../declarations/platform/late-usage-rules.js';
import { notSubscribed } from '../../owners/still-subscribed.js';
import { newPlan, planExpansions, type ExpandedPlan } from './plan-expansions.js';
import {
  PLANS,
  type ChangePlanBody,
  type CreatePlanBody,
  type SearchPlansBody,
} from '../../declarations/catalog/plan.resource.js';

/** POST /plans. */
export async function createPlan(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreatePlanBody,
): Promise<ExpandedPlan | Refusal> {
  const reader = new MemberReader();
  const plan = {
    name: reader.line('name', body.name),
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? null,
    display_order: body.display_order ?? null,
    late_usage: readLateUsage(reader, body.late_usage),
    metadata: reader.metadata(body.metadata),
  };
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await createRecord(unit, PLANS, plan);
    return newPlan(row);
  });
}

/** GET /plans/{id} with everything that belongs to it, whatever its status. */
export const readPlan = readOperation((unit, id: string) =>
  readExpanded(unit, PLANS, { id, expansions: planExpansions(unit) }),
);

/** POST /plans/search. */
export function searchPlans(
  { pricesMax, ...dependencies }: ReadDependencies & { readonly pricesMax?: number },
  occasion: Occasion,
  body: SearchPlansBody,
): Promise<Page<ExpandedPlan> | Refusal> {
  const search = {
    request: body,
    conditions: [
      ...isOneOfAsked('id', body.plan_ids),
      ...isOneOfAsked('lookup_key', body.lookup_keys),
      ...hasText('name', body.name_contains),
    ],
  };
  return readUnit(dependencies, occasion, (unit) => {
    const expansions = planExpansions({ now: unit.now, pricesMax });
    return searchExpanded(unit, PLANS, { ...search, expansions });
  });
}

/** PUT /plans/{id}. */
export async function changePlan(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangePlanBody },
): Promise<ExpandedPlan | Refusal> {
  const reader = new MemberReader();
  const { name, metadata, late_usage: late, ...others } = body;
  const patch = givenOf({
    ...others,
    name: reader.changedName('name', name),
    late_usage: late === undefined ? undefined : readLateUsage(reader, late),
    metadata: reader.changedMetadata(metadata),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await changeRecord(unit, PLANS, { target, change: () => patch });
    return expandRecord(unit, row, planExpansions(unit));
  });
}

/** DELETE /plans/{id}: archives the plan; its prices and entitlements stay as they are. */
export const archivePlan = writeOperation((unit, id: string) =>
  removeRecord(unit, PLANS, { id, guards: [notSubscribed('plan_id')] }),
);
