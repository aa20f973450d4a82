import type { Caller } from '../../records/caller.js';
import { changeRecord, type ChangeTarget } from '../../records/change-record.js';
import { hasText, isOneOf } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { expandRecord, readExpanded } from '../../records/expand-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readUnit, writeUnit, type WriteDependencies } from '../../records/unit.js';
import { newPlan, planExpansions, type ExpandedPlan } from './plan-expansions.js';
import { PLANS, type CreatePlanBody, type SearchPlansBody } from './plan.resource.js';

/**
 * Live prices that the plans of one answer may have together: twice what one plan may have. An
 * answer of so many takes about 10 MB; all of a page of a thousand plans would be five million.
 */
const PRICES_MAX = 10_000;

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
  const expansions = planExpansions({ now: dependencies.clock.now(), pricesMax: PRICES_MAX });
  return readUnit(dependencies, caller.environment, (unit) =>
    readExpanded(unit, PLANS, { id, expansions }),
  );
}

/** POST /plans/search. */
export function searchPlans(
  {
    pricesMax = PRICES_MAX,
    ...dependencies
  }: PlanReadDependencies & { readonly pricesMax?: number },
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

/**
 * Members that are present are changed.
 * @example {"name": "Pro 2026", "description": null}
 */
export interface ChangePlanBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Null clears it. @maxLength 10000 */
  description?: string | null;
  /**
   * Null clears it.
   * @isInt
   * @minimum -2147483648
   * @maximum 2147483647
   */
  display_order?: number | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

/** PUT /plans/{id}. */
export async function changePlan(
  dependencies: WriteDependencies,
  caller: Caller,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangePlanBody },
): Promise<ExpandedPlan | Refusal> {
  const reader = new MemberReader();
  const { name, metadata, ...others } = body;
  const patch = {
    ...others,
    ...(name === undefined ? {} : { name: reader.name('name', name) }),
    ...(metadata === undefined ? {} : { metadata: reader.metadata(metadata ?? {}) }),
  };
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, caller, async (unit) => {
    const row = await changeRecord(unit, PLANS, { target, change: () => patch });
    return isRefusal(row)
      ? row
      : expandRecord(unit, row, planExpansions({ now: unit.now, pricesMax: PRICES_MAX }));
  });
}
