import { sql } from 'slonik';
import { isOneOf } from '../records/conditions.js';
import { findPublished } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
import {
  CREDIT_GRANTS,
  type CreditGrantRow,
} from '../declarations/credit-grants/credit-grant.resource.js';

/** The published credit grants of a plan and of addons, oldest first. */
export async function findCreditGrantsOfCatalog(
  transaction: Transaction,
  { planId, addonIds }: { readonly planId: string | null; readonly addonIds: readonly string[] },
): Promise<readonly CreditGrantRow[]> {
  if (planId === null) return findCreditGrantsOf(transaction, 'addon_id', addonIds);
  if (addonIds.length === 0) return findCreditGrantsOf(transaction, 'plan_id', [planId]);
  const ofAddons = sql.array([...addonIds], 'text');
  return findPublished({ tx: transaction }, CREDIT_GRANTS, [
    sql.fragment`(plan_id = ${planId} OR addon_id = ANY (${ofAddons}))`,
  ]);
}

/** The published credit grants whose owner, in this column, is one of these; oldest first. */
export async function findCreditGrantsOf(
  transaction: Transaction,
  column: 'plan_id' | 'addon_id' | 'subscription_id',
  ownerIds: readonly string[],
): Promise<readonly CreditGrantRow[]> {
  if (ownerIds.length === 0) return [];
  return findPublished({ tx: transaction }, CREDIT_GRANTS, isOneOf(column, ownerIds));
}
