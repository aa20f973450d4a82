import { sql, type FragmentSqlToken } from 'slonik';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

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

/** Of `subscriptions`: a period follows the running one, and that was not told yet in it. */
export const isRenewalUntold = sql.fragment`status = 'published' AND subscription_status = 'active'
  AND (renewal_noticed_end IS NULL OR renewal_noticed_end <= current_period_start)
  AND billing_cadence = 'RECURRING'
  AND (cancel_at IS NULL OR cancel_at > current_period_end)
  AND (end_date IS NULL OR end_date > current_period_end)`;

/** An `invoice` that is final and not paid, of a `subscription` that may be cancelled for that. */
export const isUnpaid = sql.fragment`${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')}
  AND invoice.amount_remaining > 0 AND invoice.payment_status IN ('PENDING', 'FAILED')
  AND ${rowIsIn(['subscription', 'subscription_status'], SUBSCRIPTION, 'collected')}
  AND subscription.status = 'published'`;
