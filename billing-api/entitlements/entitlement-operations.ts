import { readOwner, type OwnerReference } from '../owners/read-owner.js';
import { removeRecord } from '../records/change-record.js';
import { isEqual, isFlag, isOfPlansAsked, isOneOfAsked } from '../records/conditions.js';
import { readExpanded } from '../records/expand-record.js';
import type { SearchBody } from '../records/record-dto.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import { searchExpanded, type Page } from '../records/search-records.js';
import { readOperation, writeOperation } from '../records/operation.js';
import type { ReadUnit } from '../records/unit.js';
import {
  ENTITLEMENTS,
  entitlementExpansions,
  type ExpandedEntitlement,
  type SearchEntitlementsBody,
} from '../declarations/entitlements/entitlement.resource.js';

/** GET /entitlements/{id} with all that it refers to, whatever its status. */
export const readEntitlement = readOperation((unit, id: string) =>
  readExpanded(unit, ENTITLEMENTS, { id, expansions: entitlementExpansions }),
);

type EntitlementSearch = SearchBodyRequest & Omit<SearchEntitlementsBody, keyof SearchBody>;

function search(unit: ReadUnit, request: EntitlementSearch): Promise<Page<ExpandedEntitlement>> {
  const conditions = [
    ...isOneOfAsked('feature_id', request.feature_ids),
    ...isOfPlansAsked(request.plan_ids),
    ...isEqual('entity_type', request.entity_type),
    ...isOneOfAsked('entity_id', request.entity_ids),
    ...isEqual('feature_type', request.feature_type),
    ...isFlag('is_enabled', request.is_enabled),
  ];
  const expansions = entitlementExpansions;
  return searchExpanded(unit, ENTITLEMENTS, { request, conditions, expansions });
}

/** POST /entitlements/search. */
export const searchEntitlements = readOperation((unit, body: SearchEntitlementsBody) =>
  search(unit, body),
);

/** GET /plans/{id}/entitlements and GET /addons/{id}/entitlements. */
export const listEntitlementsOf = readOperation(
  async (
    unit,
    { id, kind, ...request }: SearchBodyRequest & OwnerReference,
  ): Promise<Page<ExpandedEntitlement>> => {
    await readOwner(unit, { id, kind });
    return search(unit, { ...request, entity_ids: [id] });
  },
);

/** DELETE /entitlements/{id}: it is archived and counts no more (docs/domain.md 4). */
export const archiveEntitlement = writeOperation((unit, id: string) =>
  removeRecord(unit, ENTITLEMENTS, { id, guards: [] }),
);
