import { sql } from 'slonik';
import { PLANS, type PlanRow } from './plan.resource.js';
import { findRecord, findRecords } from '../../records/find-record.js';
import type { Transaction } from '../../records/unit.js';

export function findPlan(transaction: Transaction, id: string): Promise<PlanRow | null> {
  return findRecord({ tx: transaction }, PLANS, id);
}

/** The plans with these ids, whatever their status; unknown ids are left out. */
export function findPlans(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PlanRow>> {
  return findRecords({ tx: transaction }, PLANS, ids);
}

/**
 * Locks published plans against other writers of their prices, in the order of their ids, so that
 * two bulk requests never wait for each other.
 */
export async function lockPublishedPlans(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PlanRow>> {
  const rows = await transaction.any(sql.type(PLANS.row)`
    SELECT * FROM plans
    WHERE id = ANY (${sql.array([...new Set(ids)], 'text')}) AND status = 'published'
    ORDER BY id FOR UPDATE`);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Keeps a plan as it is until the transaction ends; others may do the same. */
export async function holdPublishedPlan(
  transaction: Transaction,
  id: string,
): Promise<PlanRow | null> {
  return transaction.maybeOne(sql.type(PLANS.row)`
    SELECT * FROM plans WHERE id = ${id} AND status = 'published' FOR SHARE`);
}
