import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { assertPresent } from '../../../runtime/failure.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { accept, Refusal, Refused } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { findDocumentParts, readDocument } from '../../documents/store/read-documents.js';
import { collectByGateway } from './collect-by-gateway.js';
import { collectFromWallets } from './collect-from-wallets.js';
import { isOpenAfterRefund, lockFinalized } from './settle-invoice.js';

/** Takes what is left of a locked invoice from wallets, and lets the gateway charge the rest. */
export async function collect(unit: Unit, row: InvoiceRow): Promise<InvoiceRow> {
  const { lines } = (await findDocumentParts(unit, [row.id]))(row.id);
  const paid = await collectFromWallets(unit, row, lines);
  const charged = await collectByGateway(unit, [paid]);
  return assertPresent(charged[0], 'the invoice');
}

/**
 * POST /invoices/{id}/payment/attempt: takes what is left from the POST_PAID wallets of the
 * customer, and lets the gateway charge what they cannot pay. Without either the invoice stays as
 * it is (docs/domain.md 17.3, 17.4).
 */
export const attemptPayment = writeOperation(
  async (unit, target: ChangeTarget): Promise<InvoiceDocument> => {
    const row = await lockFinalized(unit, target.id);
    accept(targetRefusal(INVOICES, row, target));
    const { payment_status: status } = row;
    if (status !== 'PENDING' && status !== 'FAILED' && !isOpenAfterRefund(row)) {
      const problem = `the payment of the invoice is ${status}; only one that is PENDING or FAILED, or was refunded and leaves something to pay, can be tried`;
      throw new Refused(new Refusal('invalid_operation', problem));
    }
    await collect(unit, row);
    return readDocument(unit, row.id);
  },
);
