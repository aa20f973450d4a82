import { sql } from 'slonik';
import { z } from 'zod';
import { instantColumn } from '../../../sql/columns.js';
import type { Transaction } from '../../records/unit.js';

const waitingRow = z.object({ asked_at: instantColumn, since: instantColumn.nullable() });

/**
 * For how many seconds the oldest meter of all environments has waited to be applied to stored
 * events, by the clock of PostgreSQL; 0 when none waits. @throws DependencyError.
 */
export async function readLongestWait(tx: Pick<Transaction, 'one'>): Promise<number> {
  const { asked_at: askedAt, since } = await tx.one(sql.type(waitingRow)`
    SELECT now() AS asked_at, oldest_waiting_backfill() AS since`);
  return since === null ? 0 : Math.max(0, askedAt - since) / 1_000;
}
