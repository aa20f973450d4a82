import { readOperation } from '../../records/operation.js';
import { readDocument } from '../../documents/store/read-documents.js';

/** GET /invoices/{id}: a stored invoice with its lines, coupons and taxes, as it was computed. */
export const readInvoice = readOperation((unit, id: string) => readDocument(unit, id));
