import { ENTITLEMENTS, findEntitlement, type EntitlementRow } from './entitlements-store.js';
import type { FeatureRow } from '../catalog/features/feature.resource.js';
import { findFeatures } from '../catalog/features/features-store.js';
import type { PlanRow } from '../catalog/plans/plan.resource.js';
import { findPlan, findPlans } from '../catalog/plans/plans-store.js';
import { isEqual, isOneOf, isFlag } from '../records/conditions.js';
import { searchTable, type Page } from '../records/search-table.js';
import { type ReadDependencies, type Transaction, readUnit } from '../records/unit.js';
import type { Caller } from '../records/caller.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import {
  readSearch,
  type SearchBodyRequest,
  type SearchCommand,
} from '../records/search-request.js';

export type EntitlementExpandable = 'feature' | 'plan' | 'addon';
const EXPANDABLE: readonly EntitlementExpandable[] = ['feature', 'plan', 'addon'];

export type EntitlementSearchRequest = SearchBodyRequest & {
  readonly feature_ids?: readonly string[] | undefined;
  readonly plan_ids?: readonly string[] | undefined;
  readonly entity_type?: string | undefined;
  readonly entity_ids?: readonly string[] | undefined;
  readonly feature_type?: string | undefined;
  readonly is_enabled?: boolean | undefined;
};

/** What entitlements refer to, as far as it was asked for. */
export type EntitlementSurroundings = {
  readonly features: ReadonlyMap<string, FeatureRow>;
  readonly plans: ReadonlyMap<string, PlanRow>;
  readonly names: ReadonlySet<EntitlementExpandable>;
};

async function findSurroundings(
  transaction: Transaction,
  rows: readonly EntitlementRow[],
  names: ReadonlySet<EntitlementExpandable>,
): Promise<EntitlementSurroundings> {
  const featureIds = names.has('feature') ? rows.map((row) => row.feature_id) : [];
  const planIds = names.has('plan') ? rows.map((row) => row.entity_id) : [];
  return {
    features: await findFeatures(transaction, featureIds),
    plans: await findPlans(transaction, planIds),
    names,
  };
}

/** What entitlements that were just written refer to: they are answered as they are read. */
export function readSurroundings(
  { database }: ReadDependencies,
  caller: Caller,
  rows: readonly EntitlementRow[],
): Promise<EntitlementSurroundings> {
  return readUnit({ database }, caller.environment, ({ tx: transaction }) =>
    findSurroundings(transaction, rows, new Set(EXPANDABLE)),
  );
}

/** GET /entitlements/{id} with all that it refers to, whatever its status. */
export function readEntitlement(
  { database }: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<{ row: EntitlementRow; surroundings: EntitlementSurroundings } | Refusal> {
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const row = await findEntitlement(transaction, id);
    if (row === null) return notFound('entitlement', id);
    const surroundings = await findSurroundings(transaction, [row], new Set(EXPANDABLE));
    return { row, surroundings };
  });
}

export type EntitlementPage = Page<EntitlementRow> & {
  readonly command: SearchCommand<EntitlementExpandable>;
  readonly surroundings: EntitlementSurroundings;
};

function conditionsOf(request: EntitlementSearchRequest) {
  return [
    ...isOneOf('feature_id', request.feature_ids),
    ...(request.plan_ids === undefined ? [] : isEqual('entity_type', 'PLAN')),
    ...isOneOf('entity_id', request.plan_ids),
    ...isEqual('entity_type', request.entity_type),
    ...isOneOf('entity_id', request.entity_ids),
    ...isEqual('feature_type', request.feature_type),
    ...isFlag('is_enabled', request.is_enabled),
  ];
}

/** POST /entitlements/search. */
export function searchEntitlements(
  { database }: ReadDependencies,
  caller: Caller,
  request: EntitlementSearchRequest,
): Promise<EntitlementPage | Refusal> {
  return readUnit({ database }, caller.environment, ({ tx: transaction }) =>
    find(transaction, request),
  );
}

async function find(
  transaction: Transaction,
  request: EntitlementSearchRequest,
): Promise<EntitlementPage | Refusal> {
  const resource = { members: ENTITLEMENTS.members, expandable: EXPANDABLE };
  const command = readSearch(request, resource);
  if (isRefusal(command)) return command;
  const search = { command, extra: conditionsOf(request) };
  const page = await searchTable(transaction, ENTITLEMENTS, search);
  const surroundings = await findSurroundings(transaction, page.rows, command.expand);
  return { ...page, command, surroundings };
}

/** GET /plans/{id}/entitlements. */
export function listPlanEntitlements(
  { database }: ReadDependencies,
  caller: Caller,
  { planId, ...request }: SearchBodyRequest & { readonly planId: string },
): Promise<EntitlementPage | Refusal> {
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    if ((await findPlan(transaction, planId)) === null) return notFound('plan', planId);
    return find(transaction, { ...request, plan_ids: [planId] });
  });
}
