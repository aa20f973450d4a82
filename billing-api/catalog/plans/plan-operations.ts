import type { Caller } from '../../records/caller.js';
import { hasText, isOneOf } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { readExpanded } from '../../records/expand-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readUnit, writeUnit, type WriteDependencies } from '../../records/unit.js';
import { newPlan, planExpansions, type ExpandedPlan } from './plan-expansions.js';
import { PLANS, type CreatePlanBody, type SearchPlansBody } from './plan.resource.js';

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
  const expansions = planExpansions(dependencies.clock.now());
  return readUnit(dependencies, caller.environment, (unit) =>
    readExpanded(unit, PLANS, { id, expansions }),
  );
}

/** POST /plans/search. */
export function searchPlans(
  dependencies: PlanReadDependencies,
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
    expansions: planExpansions(dependencies.clock.now()),
  };
  return readUnit(dependencies, caller.environment, (unit) => searchExpanded(unit, PLANS, search));
}
