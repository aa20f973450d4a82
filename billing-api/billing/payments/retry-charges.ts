import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { collect } from './attempt-payment.js';
import { endRetries } from './plan-retry.js';

/**
 * Tries again what was declined of invoices and is due for that, earliest first (docs/domain.md
 * 17.7). Where nothing can be charged any more, the tries are over.
 * @returns how many there were.
 */
export async function retryCharges(unit: Unit, limit: number): Promise<number | Refusal> {
  const at = formatInstant(unit.now);
  const rows = await unit.tx.any(sql.type(INVOICES.row)`
    UPDATE invoices SET next_attempt_at = NULL
    WHERE id IN (
        SELECT id FROM invoices
        WHERE invoice_status = 'FINALIZED' AND payment_status = 'FAILED'
          AND next_attempt_at IS NOT NULL AND next_attempt_at <= ${at}::timestamptz
          AND ${isOfEnvironment}
        ORDER BY next_attempt_at, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED)
      AND ${isOfEnvironment}
    RETURNING *`);
  for (const row of rows) {
    const after = await collect(unit, row);
    if (isRefusal(after)) return after;
    if (['PENDING', 'FAILED'].includes(after.payment_status)) await endRetries(unit, after);
  }
  return rows.length;
}
