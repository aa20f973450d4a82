import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { SystemEventName } from '../../domain/lifecycle/system-event-names.js';
import { announce } from '../../records/recorded-change.js';
import type { Unit } from '../../records/unit.js';
import { invoiceToDto } from '../answer/invoice-answer.js';
import type { InvoiceDocument } from '../invoice-document.js';
import { documentOf } from './document-parts.js';
import { findDocumentParts } from './read-documents.js';

/** The document of an invoice that this unit has written, which an event tells as it is now. */
export async function announceInvoice(
  unit: Unit,
  row: InvoiceRow,
  name: SystemEventName,
): Promise<InvoiceDocument> {
  const document = documentOf(row, (await findDocumentParts(unit, [row.id]))(row.id));
  announce(unit, INVOICES, { id: row.id, name, told: invoiceToDto(document, null) });
  return document;
}
