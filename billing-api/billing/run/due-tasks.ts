import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import {
  BILLING_REASONS,
  INVOICES,
  type InvoiceRow,
} from '../../declarations/invoices/invoice.resource.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import type { ReadUnit, Unit } from '../../records/unit.js';
import type { InvoiceTask } from '../stored/invoice-task.js';
import { taskOfInvoice } from '../stored/task-of-invoice.js';

/** Jobs of single items, which the runs for a whole environment leave out. */
export const BILL_SUBSCRIPTION = 'bill-subscription';
export const FINALIZE_INVOICE = 'finalize-invoice';

/** Which due items are taken. */
export type DueQuery = {
  /** At most so many. */
  readonly limit: number;
  /** Only this one, also if a job of its own cares for it; null for all others. */
  readonly only: string | null;
};

/** One item alone; or all but those that failed, for which a job of their own cares. */
function isWanted(job: string, id: FragmentSqlToken, { only }: DueQuery): FragmentSqlToken {
  if (only !== null) return sql.fragment`${id} = ${only}`;
  return sql.fragment`NOT EXISTS (
    SELECT FROM jobs WHERE jobs.name = ${job} AND jobs.key = ${id} AND ${rowIsOfEnvironment('jobs')})`;
}

const subscriptionRow = z.object({
  id: z.string(),
  current_period_start: instantColumn,
  current_period_end: instantColumn,
});

/** The earliest ended period of each subscription that is to be renewed, earliest first. */
export async function findEndedPeriods(
  { tx, now }: ReadUnit,
  due: DueQuery,
): Promise<readonly InvoiceTask[]> {
  const rows = await tx.any(sql.type(subscriptionRow)`
    SELECT id, current_period_start, current_period_end FROM subscriptions
    WHERE status = 'published' AND subscription_status = 'active'
      AND current_period_end <= ${formatInstant(now)}::timestamptz
      AND ${isOfEnvironment} AND ${isWanted(BILL_SUBSCRIPTION, sql.fragment`subscriptions.id`, due)}
    ORDER BY current_period_end, id LIMIT ${due.limit}`);
  return rows.map((row) => ({
    subscriptionId: row.id,
    period: { startMs: row.current_period_start, endMs: row.current_period_end },
    reason: 'SUBSCRIPTION_CYCLE',
    invoiceId: null,
  }));
}

const draftRow = z.object({
  id: z.string(),
  subscription_id: z.string().nullable(),
  billing_reason: z.enum(BILLING_REASONS),
  period_start: instantColumn.nullable(),
  period_end: instantColumn.nullable(),
});

/** Drafts whose delay is over, earliest first, at most one of each subscription. */
export async function findDueDrafts(
  { tx, now }: ReadUnit,
  due: DueQuery,
): Promise<readonly InvoiceTask[]> {
  const rows = await tx.any(sql.type(draftRow)`
    SELECT DISTINCT ON (due.subscription_id) due.* FROM (
      SELECT id, subscription_id, billing_reason, period_start, period_end, finalize_at
      FROM invoices
      WHERE invoice_status = 'DRAFT' AND invoice_type = 'SUBSCRIPTION' AND NOT is_manually_edited
        AND finalize_at <= ${formatInstant(now)}::timestamptz
        AND ${isOfEnvironment} AND ${isWanted(FINALIZE_INVOICE, sql.fragment`invoices.id`, due)}
      ORDER BY finalize_at, id LIMIT ${due.limit}
    ) AS due ORDER BY due.subscription_id, due.finalize_at, due.id`);
  return rows.map(taskOfInvoice);
}

/** Drafts whose delay is over and whose lines were changed by hand, locked, earliest first. */
export async function lockEditedDrafts(
  { tx, now }: Unit,
  limit: number,
): Promise<readonly InvoiceRow[]> {
  return tx.any(sql.type(INVOICES.row)`
    SELECT * FROM invoices
    WHERE invoice_status = 'DRAFT' AND is_manually_edited
      AND finalize_at <= ${formatInstant(now)}::timestamptz AND ${isOfEnvironment}
    ORDER BY finalize_at, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`);
}
