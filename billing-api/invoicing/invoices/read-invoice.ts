import type { Occasion } from '../../records/occasion.js';
import type { Refusal } from '../../records/refusal.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { readDocument } from '../../documents/store/read-documents.js';

/** GET /invoices/{id}: a stored invoice with its lines, coupons and taxes, as it was computed. */
export function readInvoice(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<InvoiceDocument | Refusal> {
  return readUnit(dependencies, occasion, (unit) => readDocument(unit, id));
}
