import {
  entitlementToDto,
  type EntitlementDto,
} from '../declarations/entitlements/entitlement.resource.js';
import { findEntitlementsOf } from './entitlements-store.js';
import type { Expansion } from '../records/expand-record.js';
import { invalid, Refused } from '../records/refusal.js';
import { byOwner } from '../owners/by-owner.js';

export interface EntitlementsOfOwnerDto {
  /** Published entitlements, oldest first. */
  entitlements?: EntitlementDto[] | null;
}

/** Of the owners of one answer together; a single one is answered with all of its own. */
const ENTITLEMENTS_MAX = 10_000;

/** Expands `entitlements` of plans and addons. */
export const expandEntitlements: Expansion<{ readonly id: string }, EntitlementDto[]> = async (
  { tx },
  owners,
) => {
  const ids = owners.map(({ id }) => id);
  const found = await findEntitlementsOf(tx, ids);
  if (ids.length > 1 && found.length > ENTITLEMENTS_MAX) {
    const problem = `the records of this answer have more than ${ENTITLEMENTS_MAX} entitlements`;
    throw new Refused(invalid({ expand: `${problem}; ask for fewer of them` }));
  }
  const entitlements = byOwner(found);
  // Absent means none: the owner has no entitlement.
  return ({ id }) => (entitlements.get(id) ?? []).map((row) => entitlementToDto(row));
};
