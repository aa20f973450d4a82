import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal } from '../../records/refusal.js';
import { mustRead, type ReadUnit } from '../../records/unit.js';
import { waitsForNoMeter } from '../../invoicing/finalize/awaited-meters.js';
import { dueOf, isWanted, type DueQuery } from '../../due/due-items.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { cancelSubscription } from './cancel-subscription.js';

/** The job of a single one, which the runs for a whole environment leave out. */
export const CANCEL_OVERDUE = 'cancel-overdue-subscription';

const overdueRow = z.object({
  subscription_id: z.string(),
  invoice_number: z.string(),
  due_date: instantColumn,
});

const OF_CANCELLED = {
  owner: 'subscription',
  subscriptionId: sql.fragment`subscription.id`,
  from: sql.fragment`subscription.current_period_start`,
  until: sql.fragment`subscription.current_period_end`,
};

/** A subscription with the invoice that has been due for the longest time. */
export type OverdueSubscription = z.output<typeof overdueRow>;

/**
 * Subscriptions of which an invoice is unpaid when the days of grace after its due date are over,
 * the longest overdue first; none where the setting is off (docs/domain.md 30.2).
 */
function findOverdue(unit: ReadUnit, due: DueQuery): Promise<readonly OverdueSubscription[]> {
  return unit.tx.any(sql.type(overdueRow)`
    SELECT subscription_id, invoice_number, due_date FROM (
      SELECT DISTINCT ON (subscription.id) subscription.id AS subscription_id,
        invoice.invoice_number, invoice.due_date
      FROM (${dueOf(unit, 'cancellation')}) AS due
      JOIN invoices AS invoice ON invoice.id = due.id AND ${rowIsOfEnvironment('invoice')}
      JOIN subscriptions AS subscription ON subscription.id = invoice.subscription_id
        AND ${rowIsOfEnvironment('subscription')}
      WHERE ${waitsForNoMeter(OF_CANCELLED)}
        AND ${isWanted(CANCEL_OVERDUE, sql.fragment`subscription.id`, due)}
      ORDER BY subscription.id, invoice.due_date, invoice.id) AS overdue
    ORDER BY due_date, subscription_id LIMIT ${due.limit}`);
}

/** What is to be cancelled now. @throws DependencyError when PostgreSQL fails. */
export function findOverdueSubscriptions(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  due: DueQuery,
): Promise<readonly OverdueSubscription[]> {
  return mustRead(dependencies, occasion, (unit) => findOverdue(unit, due));
}

/**
 * Cancels an overdue subscription at once, with a final invoice.
 * @throws when it cannot be cancelled, with the reason.
 */
export async function cancelOverdue(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  overdue: OverdueSubscription,
): Promise<void> {
  const { subscription_id: id, invoice_number: number, due_date: dueDate } = overdue;
  const reason = `invoice ${number} was due at ${formatInstant(dueDate)}`;
  const done = await cancelSubscription(dependencies, occasion, {
    target: { id },
    body: { cancellation_type: 'immediate', reason },
  });
  if (isRefusal(done)) throw new Error(done.message);
}
