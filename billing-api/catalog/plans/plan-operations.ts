import type { Caller } from '../../records/caller.js';
import { changeRecord, removeRecord, type ChangeTarget } from '../../records/change-record.js';
import { hasText, isOneOf } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { expandRecord, readExpanded } from '../../records/expand-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readUnit, writeUnit, type WriteDependencies } from '../../records/unit.js';
import { notSubscribed } from '../../owners/still-subscribed.js';
import { newPlan, planExpansions, type ExpandedPlan } from './plan-expansions.js';
import {
  PLANS,
  type ChangePlanBody,
  type CreatePlanBody,
  type PlanRow,
  type SearchPlansBody,
} from '../../declarations/catalog/plan.resource.js';

/** POST /plans. */
export async function createPlan(
  dependencies: WriteDependencies,
  caller: Caller,
  body: CreatePlanBody,
): Promise<ExpandedPlan | Refusal> {
  const reader = new MemberReader();
  const plan = {
    name: reader.name('name', body.name),
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? null,
    display_order: body.display_order ?? null,
    metadata: reader.metadata(body.metadata),
  };
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, caller, async (unit) => {
    const row = await createRecord(unit, PLANS, plan);
    return isRefusal(row) ? row : newPlan(row);
  });
}

type PlanReadDependencies = Pick<WriteDependencies, 'database' | 'clock'>;

/** GET /plans/{id} with everything that belongs to it, whatever its status. */
export function readPlan(
  dependencies: PlanReadDependencies,
  caller: Caller,
  id: string,
): Promise<ExpandedPlan | Refusal> {
  const expansions = planExpansions({
    now: dependencies.clock.now(),
  });
  return readUnit(dependencies, caller.environment, (unit) =>
    readExpanded(unit, PLANS, { id, expansions }),
  );
}

/** POST /plans/search. */
export function searchPlans(
  { pricesMax, ...dependencies }: PlanReadDependencies & { readonly pricesMax?: number },
  caller: Caller,
  body: SearchPlansBody,
): Promise<Page<ExpandedPlan> | Refusal> {
  const search = {
    request: body,
    conditions: [
      ...isOneOf('id', body.plan_ids),
      ...isOneOf('lookup_key', body.lookup_keys),
      ...hasText('name', body.name_contains),
    ],
    expansions: planExpansions({ now: dependencies.clock.now(), pricesMax }),
  };
  return readUnit(dependencies, caller.environment, (unit) => searchExpanded(unit, PLANS, search));
}

/** PUT /plans/{id}. */
export async function changePlan(
  dependencies: WriteDependencies,
  caller: Caller,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangePlanBody },
): Promise<ExpandedPlan | Refusal> {
  const reader = new MemberReader();
  const { name, metadata, ...others } = body;
  const patch = givenOf({
    ...others,
    name: reader.changedName('name', name),
    metadata: reader.changedMetadata(metadata),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, caller, async (unit) => {
    const row = await changeRecord(unit, PLANS, { target, change: () => patch });
    return isRefusal(row) ? row : expandRecord(unit, row, planExpansions({ now: unit.now }));
  });
}

/** DELETE /plans/{id}: archives the plan; its prices and entitlements stay as they are. */
export function archivePlan(
  dependencies: WriteDependencies,
  caller: Caller,
  id: string,
): Promise<PlanRow | Refusal> {
  return writeUnit(dependencies, caller, (unit) =>
    removeRecord(unit, PLANS, { id, guards: [notSubscribed('plan_id')] }),
  );
}
