import { sql } from 'slonik';
import { z } from 'zod';
import { groupBy } from '../../../runtime/group-by.js';
import { numericColumn } from '../../../sql/columns.js';
import type { ReadUnit } from '../../records/unit.js';
import { CHARGED_LINEAGES } from './charged-lineages.js';

const dividedRow = z.object({
  id: z.string(),
  amount: numericColumn,
  invoice_ids: z.array(z.string()).min(2),
});

/** The first of the invoices that an invoice is joined with, by credits, however many. */
function firstOf(joined: ReadonlyMap<string, string>, id: string): string {
  let first = id;
  for (let next = joined.get(first); next !== undefined; next = joined.get(first)) first = next;
  return first;
}

/**
 * Credits for unused time that were charged by several invoices, as seats that came during a period
 * are. What is of which of them depends on what was given back before, so the invoices are compared
 * as one with what came back of all of them. Credits that a draft has charged too are left out:
 * nothing was paid for it yet.
 * @returns as JSON, for a statement: each of the invoices with the first one of its group, and what
 * such credits have given back of the group.
 */
export async function findDividedCredits({ tx }: ReadUnit): Promise<string> {
  const rows = await tx.any(sql.type(dividedRow)`
    WITH RECURSIVE ${CHARGED_LINEAGES}
    SELECT parts.id, parts.amount, array_agg(DISTINCT parts.invoice_id) AS invoice_ids
    FROM parts JOIN divided ON divided.id = parts.id AND divided.is_final GROUP BY parts.id, parts.amount ORDER BY parts.id`);
  const joined = new Map<string, string>();
  for (const { invoice_ids: ids } of rows) {
    const [first, ...others] = [...new Set(ids.map((id) => firstOf(joined, id)))];
    if (first === undefined) continue;
    for (const other of others) joined.set(other, first);
  }
  const all = new Set(rows.flatMap(({ invoice_ids: ids }) => ids));
  const members = [...all].map((id) => ({ id, group_id: firstOf(joined, id) }));
  const credits = groupBy(rows, ({ invoice_ids: [id = ''] }) => firstOf(joined, id));
  const sharing = [...credits].map(([group_id, own]) => ({
    group_id,
    amounts: own.map(({ amount }) => amount),
  }));
  return JSON.stringify({ members, sharing });
}
