import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { isOfEnvironment, rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { Unit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { reachOf } from './find-unused.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/**
 * Locks the invoices that charge line items beyond an instant, in the order of their ids. A credit
 * of their unused time takes these locks first, right after it has locked the subscription. So a
 * note, refund or void of such an invoice comes before the credit and counts, or after it and knows
 * what was given back (docs/domain.md 23.1).
 */
export async function lockCharges(
  { tx }: Unit,
  lineItems: readonly LineItemRow[],
  afterMs: InstantMs,
): Promise<void> {
  const ids = lineItems.map(({ id }) => id);
  await tx.any(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM invoices
    WHERE id IN (SELECT line.invoice_id FROM invoice_line_items AS line
        WHERE line.subscription_line_item_id = ANY (${sql.array(ids, 'text')})
          AND line.kind = 'charge' AND line.period_end > ${formatInstant(afterMs)}::timestamptz
          AND ${rowIsOfEnvironment('line')})
      AND ${rowIsIn(['invoice_status'], INVOICE, 'counted')} AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
}

/** Locks the invoices of which a subscription may have something unused at an instant. */
export function lockUnused(unit: Unit, loaded: BilledSubscription, atMs: InstantMs): Promise<void> {
  const { lineItems, afterMs } = reachOf(loaded, atMs);
  return lockCharges(unit, lineItems, afterMs);
}
