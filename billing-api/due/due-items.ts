import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../contract/instant.js';
import { rowIsOfEnvironment } from '../records/conditions.js';
import type { Columns } from '../records/columns.js';
import type { Resource, RowOf } from '../records/resource.js';
import type { ReadUnit, Unit } from '../records/unit.js';

/** What falls due: each is a function `due_…` of the database, and a part of `due_items`. */
export type DueKind =
  | 'pause_begin'
  | 'pause_end'
  | 'renewal'
  | 'waiting_end'
  | 'grant'
  | 'draft'
  | 'credit_expiry'
  | 'overdue'
  | 'payment_retry'
  | 'renewal_notice'
  | 'phase'
  | 'cancellation'
  | 'top_up';

/** Which due items are taken. */
export type DueQuery = {
  /** At most so many. */
  readonly limit: number;
  /** Only this one, also if a job of its own cares for it; null for all others. */
  readonly only: string | null;
};

/** One item alone; or all but those that failed, for which a job of their own cares. */
export function isWanted(job: string, id: FragmentSqlToken, { only }: DueQuery): FragmentSqlToken {
  if (only !== null) return sql.fragment`${id} = ${only}`;
  return sql.fragment`NOT EXISTS (
    SELECT FROM jobs WHERE jobs.name = ${job} AND jobs.key = ${id} AND ${rowIsOfEnvironment('jobs')})`;
}

/** What is due of a kind now, as `id` of the record and `at`, the instant of it that decides. */
export function dueOf(
  { environment, now }: Pick<ReadUnit, 'environment' | 'now'>,
  kind: DueKind,
): FragmentSqlToken {
  const { tenantId, environmentId } = environment;
  return sql.fragment`SELECT id, at FROM ${sql.identifier([`due_${kind}`])}(
    ${tenantId}, ${environmentId}, '-infinity', ${formatInstant(now)}::timestamptz)`;
}

const idRow = z.object({ id: z.string() });

/** Which records of a kind are locked, and for which job. */
type LockedDue = {
  readonly kind: DueKind;
  /** The job of a single one that failed. */
  readonly job: string;
  readonly due: DueQuery;
  /** A further condition on the row `record`. */
  readonly where?: FragmentSqlToken;
};

/** Locks records that are due, earliest first, but those that somebody else has locked. */
export async function lockDue<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  { kind, job, due, where = sql.fragment`true` }: LockedDue,
): Promise<readonly RowOf<C>[]> {
  const table = sql.identifier([resource.table]);
  const found = await unit.tx.any(sql.type(idRow)`
    SELECT record.id FROM (${dueOf(unit, kind)}) AS due
    JOIN ${table} AS record ON record.id = due.id AND ${rowIsOfEnvironment('record')}
    WHERE ${where} AND ${isWanted(job, sql.fragment`due.id`, due)}
    ORDER BY due.at, due.id LIMIT ${due.limit} FOR NO KEY UPDATE OF record SKIP LOCKED`);
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  // Asked again: another may have done it until it was locked.
  return unit.tx.any(sql.type(resource.row)`
    SELECT record.* FROM (${dueOf(unit, kind)}) AS due
    JOIN ${table} AS record ON record.id = due.id AND ${rowIsOfEnvironment('record')}
    WHERE ${where} AND record.id = ANY (${sql.array(ids, 'text')})
    ORDER BY due.at, due.id`);
}
