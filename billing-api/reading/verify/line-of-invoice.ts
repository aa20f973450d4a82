import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import type { DocumentLine, InvoiceDocument } from '../../documents/invoice-document.js';

/** The line of a stored invoice with this id; otherwise the 404 that names it. */
export function lineOfInvoice(
  document: InvoiceDocument | Refusal,
  lineId: string,
): { readonly document: InvoiceDocument; readonly line: DocumentLine } | Refusal {
  if (isRefusal(document)) return document;
  const line = document.lines.find(({ id }) => id === lineId);
  return line === undefined ? notFound('invoice line', lineId) : { document, line };
}
