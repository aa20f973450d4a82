import { sql } from 'slonik';
import { z } from 'zod';
import { recordColumns } from '../../records/records.js';
import { RECORD_MEMBERS } from '../../records/search-table.js';
import type { Transaction } from '../../records/unit.js';

const planRow = z.object({
  ...recordColumns,
  name: z.string(),
  description: z.string().nullable(),
  lookup_key: z.string().nullable(),
  display_order: z.number().int().nullable(),
  price_sequence: z.number().int(),
});
export type PlanRow = z.output<typeof planRow>;

export const PLANS = {
  name: 'plans',
  row: planRow,
  members: {
    ...RECORD_MEMBERS,
    name: 'string',
    description: 'string',
    lookup_key: 'string',
    display_order: 'number',
  },
} as const;

export async function findPlan(transaction: Transaction, id: string): Promise<PlanRow | null> {
  return transaction.maybeOne(sql.type(planRow)`SELECT * FROM plans WHERE id = ${id}`);
}

/** The plans with these ids, whatever their status; unknown ids are left out. */
export async function findPlans(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PlanRow>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(planRow)`
    SELECT * FROM plans WHERE id = ANY (${sql.array([...new Set(ids)], 'text')})`);
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Locks published plans against other writers of their prices, in the order of their ids, so that
 * two bulk requests never wait for each other.
 */
export async function lockPublishedPlans(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PlanRow>> {
  const rows = await transaction.any(sql.type(planRow)`
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
  return transaction.maybeOne(sql.type(planRow)`
    SELECT * FROM plans WHERE id = ${id} AND status = 'published' FOR SHARE`);
}
