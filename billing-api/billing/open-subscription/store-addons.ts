import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import { resetRefusalsOf } from '../../entitlements/reset-rule.js';
import { createRecords } from '../../records/create-record.js';
import { collect, invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { ADDON_ASSOCIATIONS } from '../../declarations/subscriptions/addon-association.resource.js';
import type { HeldAddon } from './held-addons.js';

/**
 * Entitlements of one subscription that share a meter have one reset period (docs/domain.md 10.2).
 * Plan and addons are held, so none of them gets another entitlement meanwhile.
 */
async function meetingRefusal(unit: Unit, addons: readonly HeldAddon[]): Promise<Refusal | null> {
  const ids = addons.map(({ addon }) => addon.id);
  const entitlements = await findEntitlementsOf(unit.tx, ids);
  const refusals = await resetRefusalsOf(unit, entitlements);
  const checked = collect({ items: addons, isBulk: false }, ({ addon, requested }) => {
    const own = entitlements.filter((row) => row.entity_id === addon.id);
    const [refusal] = own.flatMap(({ id }) => refusals.get(id) ?? []);
    if (refusal === undefined) return addon;
    const problem = `has an entitlement whose ${refusal.message}`;
    return invalid({ [`${requested.place}.addon_id`]: problem });
  });
  return isRefusal(checked) ? checked : null;
}

/** Stores which addons the subscription has. */
export async function storeAddons(
  unit: Unit,
  subscriptionId: string,
  addons: readonly HeldAddon[],
): Promise<Refusal | null> {
  const items = addons.map(({ addon, associationId, requested: { startMs } }) => ({
    id: associationId,
    subscription_id: subscriptionId,
    addon_id: addon.id,
    cadence: 'recurring' as const,
    addon_status: startMs <= unit.now ? ('active' as const) : ('pending' as const),
    start_date: startMs,
    end_date: null,
  }));
  const stored = await createRecords(unit, ADDON_ASSOCIATIONS, { items, isBulk: false });
  return isRefusal(stored) ? stored : meetingRefusal(unit, addons);
}
