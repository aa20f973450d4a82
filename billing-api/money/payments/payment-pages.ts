import { sql } from 'slonik';
import { z } from 'zod';
import { plain } from '../../../contract/number/decimal.js';
import { noRows } from '../../../sql/columns.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import type { PageAddresses } from '../gateways/payment-gateway.js';
import { TAKE_PAYMENT } from './gateway-work.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** Keeps where the payer goes from the page of a payment. */
export async function storeAddresses(
  { tx }: Unit,
  { id }: PaymentRow,
  { success, cancel }: PageAddresses,
): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE payments SET success_url = ${success}, cancel_url = ${cancel}
    WHERE id = ${id} AND ${isOfEnvironment}`);
}

const addressRow = z.object({
  success_url: z.string().nullable(),
  cancel_url: z.string().nullable(),
});

/** Where the payer goes from the page of a payment; null for one of a release without pages. */
export async function findAddresses(
  { tx }: StatementUnit,
  { id }: PaymentRow,
): Promise<PageAddresses | null> {
  const { success_url: success, cancel_url: cancel } = await tx.one(sql.type(addressRow)`
    SELECT success_url, cancel_url FROM payments WHERE id = ${id} AND ${isOfEnvironment}`);
  return success === null ? null : { success, cancel };
}

/** Keeps how the gateway calls the page of a payment. */
export async function storePage({ tx }: Unit, { id }: PaymentRow, pageId: string): Promise<void> {
  await tx.query(sql.type(noRows)`
    UPDATE payments SET gateway_page_id = ${pageId} WHERE id = ${id} AND ${isOfEnvironment}`);
}

const pageRow = z.object({ id: z.string(), gateway_page_id: z.string() });
/** A page that may be paid, and its payment. */
export type OpenPage = { readonly paymentId: string; readonly pageId: string };

/** The pages by which something may be paid now: of an invoice, or of one payment. */
export async function findOpenPages(
  { tx }: StatementUnit,
  of: { readonly invoiceId: string } | { readonly paymentId: string },
): Promise<readonly OpenPage[]> {
  const where =
    'invoiceId' in of
      ? sql.fragment`destination_id = ${of.invoiceId} AND destination_type = 'INVOICE'`
      : sql.fragment`id = ${of.paymentId}`;
  const rows = await tx.any(sql.type(pageRow)`
    SELECT id, gateway_page_id FROM payments
    WHERE ${where} AND payment_url IS NOT NULL AND ${isOfEnvironment} ORDER BY id`);
  return rows.map(({ id, gateway_page_id: pageId }) => ({ paymentId: id, pageId }));
}

/**
 * Has the jobs of the open pages of an invoice close those that would take more than is left. One
 * that the unit itself has finalized has no page yet, so a batch of them asks nothing.
 */
export async function withdrawPages(unit: Unit, invoiceId: string): Promise<void> {
  const isNew = unit.changes.some(
    ({ entityId, action }) => entityId === invoiceId && action === 'finalize',
  );
  if (isNew) return;
  for (const { paymentId } of await findOpenPages(unit, { invoiceId })) {
    await enqueue(unit, TAKE_PAYMENT, { input: { paymentId } });
  }
}

/** Why a page cannot take a payment of an invoice; null when it can. */
export function pageProblem(
  { amount }: PaymentRow,
  { invoice_status: status, amount_remaining: left }: InvoiceRow,
): string | null {
  if (!isIn(INVOICE, 'claimed', status)) return `the invoice is ${status}`;
  if (amount.lessThanOrEqualTo(left)) return null;
  return `${plain(left)} of the invoice is left, less than the ${plain(amount)} of the page`;
}

/** Whether a gateway knows a payment, by a charge or a page, so that it may tell of money still. */
export async function isKnownAtGateway(
  { tx }: StatementUnit,
  { id, gateway_payment_id: chargeId }: PaymentRow,
): Promise<boolean> {
  if (chargeId !== null) return true;
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM payments WHERE id = ${id} AND gateway_page_id IS NOT NULL AND ${isOfEnvironment}`);
}

/** The payment that a charge or a page at the gateway is of; null when it is none of ours. */
export function findPaymentAtGateway(
  { tx }: StatementUnit,
  gateway: string,
  chargeId: string,
): Promise<PaymentRow | null> {
  return tx.maybeOne(sql.type(PAYMENTS.row)`
    SELECT * FROM payments
    WHERE (gateway_payment_id = ${chargeId} OR gateway_page_id = ${chargeId})
      AND payment_gateway = ${gateway} AND ${isOfEnvironment}`);
}
