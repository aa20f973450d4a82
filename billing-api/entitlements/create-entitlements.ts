import { assertPresent } from '../../runtime/failure.js';
import { FEATURES, type FeatureRow } from '../catalog/features/feature.resource.js';
import type { Caller } from '../records/caller.js';
import { createRecord } from '../records/create-record.js';
import { expandRecords } from '../records/expand-record.js';
import { findRecord, findRecords } from '../records/find-record.js';
import {
  collect,
  invalid,
  isRefusal,
  notFound,
  type Refusal,
  type RequestItems,
} from '../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../records/unit.js';
import { keyOf, lockOwners, resetRefusal, type Owner } from './entitlement-owner.js';
import {
  entitlementCommandFrom,
  featureRefusal,
  type EntitlementCommand,
} from './entitlement-request.js';
import {
  ENTITLEMENTS,
  entitlementExpansions,
  type CreateEntitlementBody,
  type EntitlementRow,
  type ExpandedEntitlement,
} from './entitlement.resource.js';

/** What a subscription's entitlement replaces: one of the same feature, of its plan. */
async function parentRefusal(
  unit: Unit,
  { feature_id: featureId, parent_entitlement_id: id }: CreateEntitlementBody,
  owner: Owner,
): Promise<Refusal | null> {
  if (id === undefined) return null;
  const parent = await findRecord(unit, ENTITLEMENTS, id);
  if (parent === null) return notFound('entitlement', id);
  const problem = (text: string): Refusal => invalid({ parent_entitlement_id: text });
  if (parent.feature_id !== featureId) return problem('must be an entitlement to the same feature');
  if (owner.entityType === 'SUBSCRIPTION' && parent.entity_id !== owner.planId) {
    return problem("must be an entitlement of the subscription's plan");
  }
  return null;
}

type Found = {
  readonly owners: ReadonlyMap<string, Owner | Refusal>;
  readonly features: ReadonlyMap<string, FeatureRow>;
};

async function storeEntitlement(
  unit: Unit,
  { request, owner: wanted, startMs, endMs }: EntitlementCommand,
  found: Found,
): Promise<EntitlementRow | Refusal> {
  const owner = assertPresent(found.owners.get(keyOf(wanted)), 'the owner of an entitlement');
  if (isRefusal(owner)) return owner;
  const feature = found.features.get(request.feature_id);
  if (feature === undefined) return notFound('feature', request.feature_id);
  const reset = request.usage_reset_period ?? null;
  const refusal =
    featureRefusal(feature, request) ??
    (await parentRefusal(unit, request, owner)) ??
    (await resetRefusal(unit, { feature, entityId: owner.id, reset }));
  if (refusal !== null) return refusal;
  return createRecord(unit, ENTITLEMENTS, {
    feature_id: request.feature_id,
    feature_type: feature.type,
    entity_type: owner.entityType,
    entity_id: owner.id,
    ...membersOf(request),
    start_date: startMs,
    end_date: endMs,
  });
}

/** The members that are stored as they are given. */
function membersOf(request: CreateEntitlementBody) {
  return {
    parent_entitlement_id: request.parent_entitlement_id ?? null,
    is_enabled: request.is_enabled ?? true,
    is_soft_limit: request.is_soft_limit ?? false,
    static_value: request.static_value ?? null,
    usage_limit: request.usage_limit ?? null,
    usage_reset_period: request.usage_reset_period ?? null,
    display_order: request.display_order ?? null,
  };
}

/** POST /entitlements and POST /entitlements/bulk: all of the request, in its order, or none. */
export async function createEntitlements(
  dependencies: WriteDependencies,
  caller: Caller,
  request: RequestItems<CreateEntitlementBody>,
): Promise<readonly ExpandedEntitlement[] | Refusal> {
  const { isBulk } = request;
  const commands = collect(request, entitlementCommandFrom);
  if (isRefusal(commands)) return commands;
  return writeUnit(dependencies, caller, async (unit) => {
    const owners = await lockOwners(
      unit,
      commands.map(({ owner }) => owner),
    );
    const featureIds = request.items.map((item) => item.feature_id);
    const found = { owners, features: await findRecords(unit, FEATURES, featureIds) };
    const results: (EntitlementRow | Refusal)[] = [];
    for (const command of commands) {
      const result = await storeEntitlement(unit, command, found);
      results.push(result);
      if (isRefusal(result)) break;
    }
    const rows = collect({ items: results, isBulk }, (result) => result);
    if (isRefusal(rows)) return rows;
    return expandRecords(unit, rows, { expansions: entitlementExpansions, names: 'all' });
  });
}
