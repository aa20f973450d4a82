import { CREDIT_GRANTS } from '../../declarations/credit-grants/credit-grant.resource.js';
import { findCreditGrantsOf } from '../../credit-grants/credit-grants-store.js';
import { createRecords } from '../../records/create-record.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';

/** Gives a new plan the published credit grants of another. */
export async function copyCreditGrants(
  unit: Unit,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const grants = await findCreditGrantsOf(unit.tx, 'plan_id', [from]);
  const items = grants.map((grant) => ({
    ...ownColumnsOf(CREDIT_GRANTS, grant),
    plan_id: to,
    metadata: grant.metadata,
  }));
  await createRecords(unit, CREDIT_GRANTS, { items, isBulk: false });
}
