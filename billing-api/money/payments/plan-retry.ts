import { sql } from 'slonik';
import { z } from 'zod';
import { DAY_MS, formatInstant } from '../../../contract/instant.js';
import { integerColumn, noRows } from '../../../sql/columns.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { findPaymentRetries } from '../../platform/settings/payment-retries.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { announceInvoice } from '../../documents/store/announce-invoice.js';
import { isGateway } from '../gateways/gateway-name.js';

const countRow = z.object({ count: integerColumn });

/** How many charges of an invoice the gateway has declined; a page that was not paid is none. */
async function countDeclined({ tx }: StatementUnit, invoiceId: string): Promise<number> {
  const { count } = await tx.one(sql.type(countRow)`
    SELECT count(*) FROM payments
    WHERE destination_id = ${invoiceId} AND ${isGateway(['payment_gateway'])}
      AND payment_status = 'FAILED' AND payment_method_type <> 'PAYMENT_LINK' AND ${isOfEnvironment}`);
  return count;
}

/** Tells once that the charges of a locked invoice have come to an end without success. */
export async function endRetries(unit: Unit, { id }: InvoiceRow): Promise<void> {
  const at = formatInstant(unit.now);
  const ended = await unit.tx.maybeOne(sql.type(INVOICES.row)`
    UPDATE invoices SET attempts_ended_at = ${at}::timestamptz, next_attempt_at = NULL
    WHERE id = ${id} AND attempts_ended_at IS NULL AND ${isOfEnvironment}
    RETURNING *`);
  if (ended !== null) await announceInvoice(unit, ended, 'invoice.payment.retries_finished');
}

/**
 * Plans the next charge of a locked invoice whose charge was declined, or ends them when that was
 * the last one. Only what is collected automatically is charged again (docs/domain.md 17.7).
 */
export async function planRetry(unit: Unit, invoice: InvoiceRow): Promise<void> {
  const { id, payment_status: status, subscription } = invoice;
  if (status !== 'FAILED' || subscription?.collection_method !== 'charge_automatically') return;
  const { max_retries: retries, interval_days: days } = await findPaymentRetries(unit);
  if ((await countDeclined(unit, id)) > retries) return endRetries(unit, invoice);
  const next = formatInstant(unit.now + days * DAY_MS);
  await unit.tx.query(sql.type(noRows)`
    UPDATE invoices SET next_attempt_at = ${next}::timestamptz
    WHERE id = ${id} AND attempts_ended_at IS NULL AND ${isOfEnvironment}`);
}
