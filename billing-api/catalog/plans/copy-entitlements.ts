import { ENTITLEMENTS } from '../../declarations/entitlements/entitlement.resource.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import { createRecords } from '../../records/create-record.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';

/** Gives a new plan the published entitlements of another. */
export async function copyEntitlements(
  unit: Unit,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const entitlements = await findEntitlementsOf(unit.tx, [from]);
  const items = entitlements.map((entitlement) => ({
    ...ownColumnsOf(ENTITLEMENTS, entitlement),
    entity_id: to,
    metadata: entitlement.metadata,
  }));
  await createRecords(unit, ENTITLEMENTS, { items, isBulk: false });
}
