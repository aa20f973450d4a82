import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import {
  BILLING_REASONS,
  INVOICES,
  type InvoiceRow,
} from '../../declarations/invoices/invoice.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { isOfEnvironment, rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import type { ReadUnit, Unit } from '../../records/unit.js';
import type { InvoiceTask } from '../stored/invoice-task.js';
import { taskOfInvoice } from '../stored/task-of-invoice.js';
import { waitsForNoMeter } from '../finalize/awaited-meters.js';
import { isWanted, type DueQuery } from '../due/due-items.js';
import { tasksAfterTrials } from './trial-tasks.js';

/** Jobs of single items, which the runs for a whole environment leave out. */
export const BILL_SUBSCRIPTION = 'bill-subscription';
export const FINALIZE_INVOICE = 'finalize-invoice';
export const FINALIZE_EDITED = 'finalize-edited-invoice';

const subscriptionRow = z.object({
  id: z.string(),
  subscription_status: z.enum(SUBSCRIPTION.states),
  current_period_start: instantColumn,
  current_period_end: instantColumn,
});

/** The earliest ended period of each subscription that is to be renewed, earliest first. */
export async function findEndedPeriods(
  unit: ReadUnit,
  due: DueQuery,
): Promise<readonly InvoiceTask[]> {
  const rows = await unit.tx.any(sql.type(subscriptionRow)`
    SELECT id, subscription_status, current_period_start, current_period_end FROM subscriptions
    WHERE status = 'published' AND ${rowIsIn(['subscription_status'], SUBSCRIPTION, 'running')}
      AND subscription_type NOT IN ('inherited', 'grouped_invoicing')
      AND current_period_end <= ${formatInstant(unit.now)}::timestamptz
      AND NOT EXISTS (SELECT FROM subscription_pauses AS pause
        WHERE pause.subscription_id = subscriptions.id AND pause.pause_status = 'scheduled'
          AND pause.pause_start < subscriptions.current_period_end AND ${rowIsOfEnvironment('pause')})
      AND NOT EXISTS (SELECT FROM subscription_schedules AS schedule
        WHERE schedule.subscription_id = subscriptions.id AND schedule.schedule_status = 'pending'
          AND schedule.schedule_type = 'plan_change' AND ${rowIsOfEnvironment('schedule')})
      AND NOT EXISTS (SELECT FROM subscriptions AS child
        WHERE child.parent_subscription_id = subscriptions.id
          AND child.subscription_type = 'grouped_invoicing' AND child.status = 'published'
          AND ${rowIsIn(['child', 'subscription_status'], SUBSCRIPTION, 'running')}
          AND ${rowIsOfEnvironment('child')}
          AND (child.current_period_end < subscriptions.current_period_end
            OR (child.current_period_end = subscriptions.current_period_end
              AND EXISTS (SELECT FROM subscription_schedules AS schedule
                WHERE schedule.subscription_id = child.id AND schedule.schedule_status = 'pending'
                  AND schedule.schedule_type = 'plan_change' AND ${rowIsOfEnvironment('schedule')}))))
      AND ${isOfEnvironment} AND ${isWanted(BILL_SUBSCRIPTION, sql.fragment`subscriptions.id`, due)}
    ORDER BY current_period_end, id LIMIT ${due.limit}`);
  const trialing = rows.filter(({ subscription_status: status }) => status === 'trialing');
  const ofTrials = await tasksAfterTrials(
    unit,
    trialing.map(({ id }) => id),
  );
  return rows.map((row) => {
    const period = { startMs: row.current_period_start, endMs: row.current_period_end };
    const reason = 'SUBSCRIPTION_CYCLE';
    return ofTrials.get(row.id) ?? { subscriptionId: row.id, period, reason, invoiceId: null };
  });
}

const draftRow = z.object({
  id: z.string(),
  subscription_id: z.string().nullable(),
  billing_reason: z.enum(BILLING_REASONS),
  period_start: instantColumn.nullable(),
  period_end: instantColumn.nullable(),
});

const OF_DRAFT = {
  owner: 'invoices',
  subscriptionId: sql.fragment`invoices.subscription_id`,
  from: sql.fragment`invoices.period_start`,
  until: sql.fragment`invoices.period_end`,
};

/**
 * Drafts whose delay is over and that wait for no meter, earliest first, at most one of each
 * subscription.
 */
export async function findDueDrafts(
  { tx, now }: ReadUnit,
  due: DueQuery,
): Promise<readonly InvoiceTask[]> {
  const rows = await tx.any(sql.type(draftRow)`
    SELECT DISTINCT ON (due.subscription_id) due.* FROM (
      SELECT id, subscription_id, billing_reason, period_start, period_end, finalize_at
      FROM invoices
      WHERE ${rowIsIn(['invoice_status'], INVOICE, 'draft')} AND invoice_type = 'SUBSCRIPTION' AND NOT is_manually_edited
        AND finalize_at <= ${formatInstant(now)}::timestamptz AND ${waitsForNoMeter(OF_DRAFT)}
        AND ${isOfEnvironment} AND ${isWanted(FINALIZE_INVOICE, sql.fragment`invoices.id`, due)}
      ORDER BY finalize_at, id LIMIT ${due.limit}
    ) AS due ORDER BY due.subscription_id, due.finalize_at, due.id`);
  return rows.map(taskOfInvoice);
}

/** Drafts whose delay is over and whose lines were changed by hand, earliest first. */
function editedDrafts({ now }: Unit, due: DueQuery): FragmentSqlToken {
  return sql.fragment`SELECT * FROM invoices
    WHERE ${rowIsIn(['invoice_status'], INVOICE, 'draft')} AND is_manually_edited
      AND finalize_at <= ${formatInstant(now)}::timestamptz AND ${isOfEnvironment}
      AND ${isWanted(FINALIZE_EDITED, sql.fragment`invoices.id`, due)}
    ORDER BY finalize_at, id LIMIT ${due.limit}`;
}

/** Such drafts, locked after their subscriptions, which what is paid at once may activate. */
export async function lockEditedDrafts(unit: Unit, due: DueQuery): Promise<readonly InvoiceRow[]> {
  const found = await unit.tx.any(sql.type(INVOICES.row)`${editedDrafts(unit, due)}`);
  if (found.length === 0) return [];
  const owners = found.flatMap(({ subscription_id: id }) => (id === null ? [] : [id]));
  await lockRecordsForChange(unit, SUBSCRIPTIONS, owners);
  const ids = found.map(({ id }) => id);
  return unit.tx.any(sql.type(INVOICES.row)`
    SELECT * FROM (${editedDrafts(unit, due)} FOR NO KEY UPDATE SKIP LOCKED) AS draft
    WHERE id = ANY (${sql.array(ids, 'text')}) ORDER BY finalize_at, id`);
}
