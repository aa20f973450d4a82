import { sql } from 'slonik';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Unit } from '../../records/unit.js';
import { lockDue, type DueQuery } from '../../due/due-items.js';
import { dueStep, oneByOne } from '../../due/due-step.js';
import { collect } from './attempt-payment.js';
import { endRetries } from './plan-retry.js';

/** The job of a single invoice that could not be charged again with the others. */
const RETRY_CHARGE = 'retry-charge';

/** Takes declined invoices that are due for another try, earliest first. */
async function takeDeclined(unit: Unit, due: DueQuery): Promise<readonly InvoiceRow[]> {
  const rows = await lockDue(unit, INVOICES, { kind: 'payment_retry', job: RETRY_CHARGE, due });
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  return unit.tx.any(sql.type(INVOICES.row)`
    UPDATE invoices SET next_attempt_at = NULL
    WHERE id = ANY (${sql.array(ids, 'text')}) AND ${isOfEnvironment}
    RETURNING *`);
}

async function retry(unit: Unit, row: InvoiceRow): Promise<void> {
  const after = await collect(unit, row);
  if (['PENDING', 'FAILED'].includes(after.payment_status)) await endRetries(unit, after);
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
