import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../../../harness/owner.js';
import type { Database } from '../../../../../sql/pool.js';

/** What must never be true of a store, each by a statement that finds the rows that show it. */
const PROBLEMS = {
  'a number is missing or used twice in its series': sql.fragment`
    SELECT substring(invoice_number from '^.*-') AS id FROM invoices
    WHERE invoice_number IS NOT NULL GROUP BY environment_id, 1
    HAVING count(*) <> max(substring(invoice_number from '[0-9]+$')::int)
      OR count(DISTINCT invoice_number) <> count(*)`,
  'invoices of a subscription are not counted 1, 2, 3': sql.fragment`
    SELECT subscription_id AS id FROM invoices WHERE subscription_id IS NOT NULL GROUP BY 1
    HAVING count(*) <> max(billing_sequence) OR min(billing_sequence) <> 1`,
  'a sum is not the sum of its lines': sql.fragment`
    SELECT invoice.id FROM invoices AS invoice LEFT JOIN invoice_line_items AS line
      ON line.invoice_id = invoice.id
    GROUP BY invoice.id HAVING coalesce(sum(line.amount), 0) <> invoice.subtotal
      OR coalesce(sum(line.line_item_discount + line.invoice_level_discount), 0) <> invoice.total_discount
      OR invoice.total <> greatest(0, invoice.subtotal - invoice.total_discount + invoice.total_tax
        - invoice.total_prepaid_credits_applied)`,
  'taxes are not the sum of the taxes': sql.fragment`
    SELECT invoice.id FROM invoices AS invoice LEFT JOIN invoice_taxes AS tax
      ON tax.invoice_id = invoice.id
    GROUP BY invoice.id HAVING coalesce(sum(tax.tax_amount), 0) <> invoice.total_tax`,
  'a period does not begin where the one before ends': sql.fragment`
    SELECT next.subscription_id AS id FROM subscription_periods AS next
    JOIN subscription_periods AS last ON last.subscription_id = next.subscription_id
      AND last.period_index = next.period_index - 1
    WHERE next.period_start <> last.period_end`,
  'a closed period does not have exactly one invoice': sql.fragment`
    SELECT period.subscription_id AS id FROM subscription_periods AS period
    JOIN subscriptions AS subscription ON subscription.id = period.subscription_id
    LEFT JOIN invoices AS invoice ON invoice.subscription_id = period.subscription_id
      AND invoice.period_start = period.period_start AND invoice.period_end = period.period_end
      AND invoice.billing_reason = CASE period.kind WHEN 'threshold' THEN 'AUTO_INVOICE_THRESHOLD'
        WHEN 'trial' THEN 'SUBSCRIPTION_TRIAL_START'
        ELSE 'SUBSCRIPTION_CYCLE' END
    WHERE period.period_end <= subscription.current_period_start
    GROUP BY period.subscription_id, period.period_index HAVING count(invoice.id) <> 1`,
  'a line is billed twice': sql.fragment`
    SELECT line.subscription_line_item_id AS id FROM invoice_line_items AS line
    JOIN invoices AS invoice ON invoice.id = line.invoice_id
    WHERE invoice.invoice_status <> 'VOIDED' AND line.kind = 'charge'
    GROUP BY line.subscription_line_item_id, line.period_start, line.period_end HAVING count(*) > 1`,
  'a finalized invoice is not announced exactly once': sql.fragment`
    SELECT invoice.id FROM invoices AS invoice LEFT JOIN system_events AS event
      ON event.entity_id = invoice.id AND event.event_name = 'invoice.update.finalized'
    WHERE invoice.invoice_status = 'FINALIZED'
    GROUP BY invoice.id HAVING count(event.id) <> 1`,
  'a running period begins in the future': sql.fragment`
    SELECT subscription.id FROM subscriptions AS subscription JOIN test_clocks AS clock
      ON clock.environment_id = subscription.environment_id
    WHERE subscription.current_period_start > clock.now`,
  'a draft waits longer than its delay': sql.fragment`
    SELECT invoice.id FROM invoices AS invoice JOIN test_clocks AS clock
      ON clock.environment_id = invoice.environment_id
    WHERE invoice.invoice_status = 'DRAFT' AND invoice.finalize_at <= clock.now`,
  'a job is parked, or waits for another try': sql.fragment`
    SELECT id FROM jobs WHERE name IN ('bill-subscription', 'finalize-invoice')`,
} as const;

const idRow = z.object({ id: z.string().nullable() });

/** What is wrong with the store, in words. */
export async function findStoreProblems(database: Database): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [problem, rows] of Object.entries(PROBLEMS)) {
    const broken = await ownerOf(database).any(sql.type(idRow)`${rows}`);
    if (broken.length > 0) found.push(`${problem}: ${broken.map(({ id }) => id).join(', ')}`);
  }
  return found;
}
