import { assertPresent } from '../../../runtime/failure.js';
import { CREDIT_NOTES } from '../../declarations/money/credit-note.resource.js';
import { readRecord } from '../../records/find-record.js';
import { withLines } from '../../money/credit-notes/read-notes.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { readOwnTenant } from '../../platform/tenants/tenants-store.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, type ReadDependencies, type ReadUnit } from '../../records/unit.js';
import { currentScope } from '../../edge/request-scope.js';
import { readDocument } from '../../documents/store/read-documents.js';
import type { Papers } from './papers.js';
import { printedPage, type PrintedPage, type Seller } from './printed-invoice.js';
import { printedNote } from './printed-note.js';

async function sellerOf(unit: ReadUnit): Promise<Seller> {
  const { timezone } = await findInvoiceConfig(unit);
  return { tenant: await readOwnTenant(unit), timezone };
}

export type PrintDependencies = ReadDependencies & { readonly papers: Papers };

async function print(
  dependencies: PrintDependencies,
  occasion: Occasion,
  pageOf: (unit: ReadUnit) => Promise<PrintedPage>,
): Promise<Buffer | Refusal> {
  const page = await readUnit(dependencies, occasion, pageOf);
  if (isRefusal(page)) return page;
  return dependencies.papers(occasion.environment.tenantId, page, currentScope().signal);
}

/** GET /invoices/{id}/pdf: a stored invoice on paper. */
export function printInvoice(
  dependencies: PrintDependencies,
  occasion: Occasion,
  id: string,
): Promise<Buffer | Refusal> {
  return print(dependencies, occasion, async (unit) => {
    const document = await readDocument(unit, id);
    return printedPage(document, await sellerOf(unit));
  });
}

/** GET /creditnotes/{id}/pdf: a credit note on paper. */
export function printCreditNote(
  dependencies: PrintDependencies,
  occasion: Occasion,
  id: string,
): Promise<Buffer | Refusal> {
  return print(dependencies, occasion, async (unit) => {
    const row = await readRecord(unit, CREDIT_NOTES, id);
    const invoice = await readDocument(unit, row.invoice_id);
    const [note] = await withLines(unit, [row]);
    return printedNote(assertPresent(note, 'the note'), invoice.header, await sellerOf(unit));
  });
}
