import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { isWanted, type DueQuery } from '../due/due-items.js';
import { dueStep, oneByOne } from '../due/due-step.js';
import { collect } from './attempt-payment.js';
import { endRetries } from './plan-retry.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** The job of a single invoice that could not be charged again with the others. */
const RETRY_CHARGE = 'retry-charge';

/** Takes declined invoices that are due for another try, earliest first. */
function takeDeclined({ tx, now }: Unit, due: DueQuery): Promise<readonly InvoiceRow[]> {
  return tx.any(sql.type(INVOICES.row)`
    UPDATE invoices SET next_attempt_at = NULL
    WHERE id IN (
        SELECT id FROM invoices
        WHERE ${rowIsIn(['invoice_status'], INVOICE, 'claimed')} AND payment_status = 'FAILED'
          AND next_attempt_at IS NOT NULL AND next_attempt_at <= ${formatInstant(now)}::timestamptz
          AND ${isOfEnvironment} AND ${isWanted(RETRY_CHARGE, sql.fragment`invoices.id`, due)}
        ORDER BY next_attempt_at, id LIMIT ${due.limit} FOR NO KEY UPDATE SKIP LOCKED)
      AND ${isOfEnvironment}
    RETURNING *`);
}

async function retry(unit: Unit, row: InvoiceRow): Promise<Refusal | null> {
  const after = await collect(unit, row);
  if (isRefusal(after)) return after;
  if (['PENDING', 'FAILED'].includes(after.payment_status)) await endRetries(unit, after);
  return null;
}

/**
 * Tries again what was declined of invoices and is due for that (docs/domain.md 17.7). Where
 * nothing can be charged any more, the tries are over.
 */
export const RETRIES_DUE = dueStep({
  job: RETRY_CHARGE,
  find: takeDeclined,
  idOf: ({ id }) => id,
  settle: oneByOne(retry),
});
