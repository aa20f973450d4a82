import { assertPresent } from '../../runtime/failure.js';
import { FEATURES } from '../catalog/features/feature.resource.js';
import { PLANS } from '../catalog/plans/plan.resource.js';
import type { Caller } from '../records/caller.js';
import { changeRecord, removeRecord } from '../records/change-record.js';
import { isEqual, isFlag, isOneOf } from '../records/conditions.js';
import { expandRecord, readExpanded } from '../records/expand-record.js';
import { findRecord, readRecord } from '../records/find-record.js';
import { MemberReader } from '../records/member-rules.js';
import type { SearchBody } from '../records/record-dto.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import { searchExpanded, type Page } from '../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type ReadUnit,
  type Unit,
  type WriteDependencies,
} from '../records/unit.js';
import { lockOwner, resetRefusal } from './create-entitlements.js';
import { endProblem, featureRefusal } from './entitlement-request.js';
import {
  ENTITLEMENTS,
  entitlementExpansions,
  type ChangeEntitlementBody,
  type EntitlementRow,
  type ExpandedEntitlement,
  type SearchEntitlementsBody,
} from './entitlement.resource.js';

/** GET /entitlements/{id} with all that it refers to, whatever its status. */
export function readEntitlement(
  dependencies: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<ExpandedEntitlement | Refusal> {
  return readUnit(dependencies, caller.environment, (unit) =>
    readExpanded(unit, ENTITLEMENTS, { id, expansions: entitlementExpansions }),
  );
}

type EntitlementSearch = SearchBodyRequest & Omit<SearchEntitlementsBody, keyof SearchBody>;

function search(
  unit: ReadUnit,
  request: EntitlementSearch,
): Promise<Page<ExpandedEntitlement> | Refusal> {
  const conditions = [
    ...isOneOf('feature_id', request.feature_ids),
    ...(request.plan_ids === undefined ? [] : isEqual('entity_type', 'PLAN')),
    ...isOneOf('entity_id', request.plan_ids),
    ...isEqual('entity_type', request.entity_type),
    ...isOneOf('entity_id', request.entity_ids),
    ...isEqual('feature_type', request.feature_type),
    ...isFlag('is_enabled', request.is_enabled),
  ];
  const expansions = entitlementExpansions;
  return searchExpanded(unit, ENTITLEMENTS, { request, conditions, expansions });
}

/** POST /entitlements/search. */
export function searchEntitlements(
  dependencies: ReadDependencies,
  caller: Caller,
  body: SearchEntitlementsBody,
): Promise<Page<ExpandedEntitlement> | Refusal> {
  return readUnit(dependencies, caller.environment, (unit) => search(unit, body));
}

/** GET /plans/{id}/entitlements. */
export function listPlanEntitlements(
  dependencies: ReadDependencies,
  caller: Caller,
  { planId, ...request }: SearchBodyRequest & { readonly planId: string },
): Promise<Page<ExpandedEntitlement> | Refusal> {
  return readUnit(dependencies, caller.environment, async (unit) => {
    const plan = await readRecord(unit, PLANS, planId);
    return isRefusal(plan) ? plan : search(unit, { ...request, plan_ids: [planId] });
  });
}

/** What a change writes to this entitlement, or what is wrong with it. */
function patchOf(row: EntitlementRow, body: ChangeEntitlementBody) {
  const reader = new MemberReader();
  const { end_date: end, ...others } = body;
  const endMs = end === undefined ? row.end_date : reader.instant('end_date', end ?? undefined);
  reader.note('end_date', endProblem({ startMs: row.start_date, endMs }));
  return reader.refusal() ?? { ...others, end_date: endMs };
}

async function ruleRefusal(
  unit: Unit,
  row: EntitlementRow,
  before: EntitlementRow,
): Promise<Refusal | null> {
  const feature = assertPresent(
    await findRecord(unit, FEATURES, row.feature_id),
    'the feature of an entitlement',
  );
  const refusal = featureRefusal(feature, row);
  if (refusal !== null || row.usage_reset_period === before.usage_reset_period) return refusal;
  // For the lock alone: that the owner may have been archived does not matter here.
  await lockOwner(unit, { id: row.entity_id, type: row.entity_type });
  return resetRefusal(unit, {
    feature,
    entityId: row.entity_id,
    reset: row.usage_reset_period,
  });
}

/** PUT /entitlements/{id}. */
export function changeEntitlement(
  dependencies: WriteDependencies,
  caller: Caller,
  { id, body }: { readonly id: string; readonly body: ChangeEntitlementBody },
): Promise<ExpandedEntitlement | Refusal> {
  return writeUnit(dependencies, caller, async (unit) => {
    const changed = await changeRecord(unit, ENTITLEMENTS, {
      target: { id },
      change: async (row) => {
        const patch = patchOf(row, body);
        if (isRefusal(patch)) return patch;
        return (await ruleRefusal(unit, { ...row, ...patch }, row)) ?? patch;
      },
    });
    return isRefusal(changed) ? changed : expandRecord(unit, changed, entitlementExpansions);
  });
}

/** DELETE /entitlements/{id}: it is archived and counts no more (docs/domain.md 4). */
export function archiveEntitlement(
  dependencies: WriteDependencies,
  caller: Caller,
  id: string,
): Promise<EntitlementRow | Refusal> {
  return writeUnit(dependencies, caller, (unit) =>
    removeRecord(unit, ENTITLEMENTS, { id, guards: [] }),
  );
}
