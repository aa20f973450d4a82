import { isOneOf } from '../records/conditions.js';
import { findPublished } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
import {
  CREDIT_GRANTS,
  type CreditGrantRow,
} from '../declarations/credit-grants/credit-grant.resource.js';

/** The published credit grants whose owner, in this column, is one of these; oldest first. */
export async function findCreditGrantsOf(
  transaction: Transaction,
  column: 'plan_id' | 'addon_id' | 'subscription_id',
  ownerIds: readonly string[],
): Promise<readonly CreditGrantRow[]> {
  if (ownerIds.length === 0) return [];
  return findPublished({ tx: transaction }, CREDIT_GRANTS, isOneOf(column, ownerIds));
}
