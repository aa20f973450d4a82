import { readRecord } from '../records/find-record.js';
import type { ReadUnit } from '../records/unit.js';
import { ADDONS, type AddonRow } from '../declarations/catalog/addon.resource.js';
import { PLANS, type PlanRow } from '../declarations/catalog/plan.resource.js';

/** The plan or addon whose records a list has. */
export type OwnerReference = { readonly id: string; readonly kind: 'plan' | 'addon' };

/** The plan or addon, whatever its status; otherwise the 404 that names it. */
export function readOwner(
  unit: ReadUnit,
  { id, kind }: OwnerReference,
): Promise<PlanRow | AddonRow> {
  return kind === 'plan' ? readRecord(unit, PLANS, id) : readRecord(unit, ADDONS, id);
}
