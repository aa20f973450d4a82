import { holdRecords, lockRecords } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
import { PLANS, type PlanRow } from '../declarations/catalog/plan.resource.js';

/** Keeps a plan as it is until the transaction ends; others may do the same. */
export async function holdPublishedPlan(
  transaction: Transaction,
  id: string,
): Promise<PlanRow | null> {
  const plan = (await holdRecords({ tx: transaction }, PLANS, [id])).get(id);
  return plan?.status === 'published' ? plan : null;
}

/**
 * Plans with these ids, whatever their status, locked together in the order of their ids: those
 * that change against every other holder, and those that are held against changes only. Where a
 * request has both, all are locked alike, since two statements could meet those of another request.
 */
export function lockPlans(
  transaction: Transaction,
  { changed, held }: { readonly changed: readonly string[]; readonly held: readonly string[] },
): Promise<ReadonlyMap<string, PlanRow>> {
  const unit = { tx: transaction };
  return changed.length === 0
    ? holdRecords(unit, PLANS, held)
    : lockRecords(unit, PLANS, [...changed, ...held]);
}
