import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { invoiceHeaderToDto } from '../../declarations/invoices/invoice-header-dto.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { lockRecord } from '../../records/find-record.js';
import { announce } from '../../records/recorded-change.js';
import { notFound, Refusal, Refused } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';

/**
 * POST /invoices/{id}/comms/trigger: tells by an event that the invoice is to be sent to its
 * customer.
 */
export const triggerCommunication = writeOperation(async (unit, id: string): Promise<void> => {
  const row = await lockRecord(unit, INVOICES, id);
  if (row === null) throw new Refused(notFound(INVOICES.name, id));
  if (isIn(INVOICE, 'draft', row.invoice_status)) {
    const problem = 'the invoice is DRAFT; finalize it before it is sent to its customer';
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  const name = 'invoice.communication.triggered';
  announce(unit, INVOICES, { id, name, told: invoiceHeaderToDto(row) });
});
