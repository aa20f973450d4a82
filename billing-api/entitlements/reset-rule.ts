import { METERS } from '../declarations/catalog/meter.resource.js';
import { FEATURES } from '../declarations/catalog/feature.resource.js';
import { lockOwners } from '../owners/lock-owners.js';
import { findRecords, lockRecordsForChange } from '../records/find-record.js';
import { accept, invalid, isRefusal, type Refusal } from '../records/refusal.js';
import type { ReadUnit, Unit } from '../records/unit.js';
import type { EntitlementRow } from '../declarations/entitlements/entitlement.resource.js';
import { findOtherResetsOfMeters, type ResetOfMeter } from './entitlements-store.js';

function refusalOf({ feature_id: featureId, usage_reset_period: reset }: ResetOfMeter): Refusal {
  const reason = `feature ${featureId} has the same meter and this reset period here`;
  return invalid({ usage_reset_period: `must be ${reset ?? 'left out'}, because ${reason}` });
}

/**
 * The meters of these entitlements, locked: entitlements of a plan and of an addon can meet on a
 * subscription that neither of them locks.
 */
async function lockMeters(unit: Unit, entitlements: readonly EntitlementRow[]): Promise<void> {
  const ids = entitlements.map((row) => row.feature_id);
  const features = await findRecords(unit, FEATURES, ids);
  const meterIds = [...features.values()]
    .map((feature) => feature.meter_id)
    .filter((id) => id !== null);
  await lockRecordsForChange(unit, METERS, meterIds);
}

/**
 * One meter has one kind of reset window: entitlements to several features of it share their limit
 * (docs/domain.md 10.2). Compares entitlements that this unit has written with all others, and with
 * the ones before them in the request.
 * @returns by the id of an entitlement why it is refused.
 */
export async function resetRefusals(
  unit: Unit,
  written: readonly EntitlementRow[],
): Promise<ReadonlyMap<string, Refusal>> {
  await lockMeters(unit, written);
  return resetRefusalsOf(unit, written);
}

/** As `resetRefusals`, for entitlements whose owners are held, and that meet others as of now. */
export async function resetRefusalsOf(
  { tx }: ReadUnit,
  entitlements: readonly EntitlementRow[],
): Promise<ReadonlyMap<string, Refusal>> {
  const ids = entitlements.map(({ id }) => id);
  const others = await findOtherResetsOfMeters(tx, ids);
  return new Map([...others].map(([id, other]) => [id, refusalOf(other)]));
}

/** Refuses as `resetRefusals`, for an entitlement that has got another reset period. */
export async function refuseOtherReset(unit: Unit, row: EntitlementRow): Promise<void> {
  const [owner] = (await lockOwners(unit, [{ id: row.entity_id, type: row.entity_type }])).values();
  // Entitlements of an owner that is archived meet nothing any more.
  if (isRefusal(owner)) return;
  accept((await resetRefusals(unit, [row])).get(row.id) ?? null);
}
