import { sql } from 'slonik';
import { z } from 'zod';
import { instantColumn } from '../../sql/columns.js';
import {
  BILLING_REASONS,
  INVOICES,
  type InvoiceRow,
} from '../declarations/invoices/invoice.resource.js';
import { SUBSCRIPTIONS } from '../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import { rowIsIn, rowIsOfEnvironment } from '../records/conditions.js';
import { lockRecordsForChange } from '../records/find-record.js';
import type { ReadUnit, Unit } from '../records/unit.js';
import type { InvoiceTask } from '../invoicing/drafts/invoice-task.js';
import { taskOfInvoice } from '../invoicing/drafts/task-of-invoice.js';
import { waitsForNoMeter } from '../invoicing/finalize/awaited-meters.js';
import { dueOf, isWanted, lockDue, type DueQuery } from '../due/due-items.js';
import { tasksAfterTrials } from '../subscription-life/renew/trial-tasks.js';

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
    SELECT subscriptions.id, subscription_status, current_period_start, current_period_end
    FROM (${dueOf(unit, 'renewal')}) AS due
    JOIN subscriptions ON subscriptions.id = due.id AND ${rowIsOfEnvironment('subscriptions')}
    WHERE subscription_type NOT IN ('inherited', 'grouped_invoicing')
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
      AND ${isWanted(BILL_SUBSCRIPTION, sql.fragment`due.id`, due)}
    ORDER BY due.at, due.id LIMIT ${due.limit}`);
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
  unit: ReadUnit,
  due: DueQuery,
): Promise<readonly InvoiceTask[]> {
  const rows = await unit.tx.any(sql.type(draftRow)`
    SELECT DISTINCT ON (draft.subscription_id) draft.* FROM (
      SELECT invoices.id, subscription_id, billing_reason, period_start, period_end, due.at
      FROM (${dueOf(unit, 'draft')}) AS due
      JOIN invoices ON invoices.id = due.id AND ${rowIsOfEnvironment('invoices')}
      WHERE invoice_type = 'SUBSCRIPTION' AND NOT is_manually_edited
        AND ${waitsForNoMeter(OF_DRAFT)}
        AND ${isWanted(FINALIZE_INVOICE, sql.fragment`due.id`, due)}
      ORDER BY due.at, due.id LIMIT ${due.limit}
    ) AS draft ORDER BY draft.subscription_id, draft.at, draft.id`);
  return rows.map(taskOfInvoice);
}

const editedRow = z.object({ id: z.string(), subscription_id: z.string().nullable() });

/**
 * Drafts whose delay is over and whose lines were changed by hand, locked after their
 * subscriptions, which what is paid at once may activate; earliest first.
 */
export async function lockEditedDrafts(unit: Unit, due: DueQuery): Promise<readonly InvoiceRow[]> {
  const found = await unit.tx.any(sql.type(editedRow)`
    SELECT invoices.id, subscription_id FROM (${dueOf(unit, 'draft')}) AS due
    JOIN invoices ON invoices.id = due.id AND ${rowIsOfEnvironment('invoices')}
    WHERE is_manually_edited AND ${isWanted(FINALIZE_EDITED, sql.fragment`due.id`, due)}
    ORDER BY due.at, due.id LIMIT ${due.limit}`);
  if (found.length === 0) return [];
  const owners = found.flatMap(({ subscription_id: id }) => (id === null ? [] : [id]));
  await lockRecordsForChange(unit, SUBSCRIPTIONS, owners);
  const ids = found.map(({ id }) => id);
  const where = sql.fragment`record.is_manually_edited
    AND record.id = ANY (${sql.array(ids, 'text')})`;
  return lockDue(unit, INVOICES, { kind: 'draft', job: FINALIZE_EDITED, due, where });
}
