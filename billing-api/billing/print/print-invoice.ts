import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { readOwnTenant } from '../../platform/tenants/tenants-store.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';
import { readDocument } from '../stored/read-documents.js';
import { invoicePdf } from './invoice-pdf.js';
import { printedPage, type PrintedPage } from './printed-invoice.js';

/** GET /invoices/{id}/pdf: a stored invoice on paper. */
export async function printInvoice(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<Buffer | Refusal> {
  const page = await readUnit(
    dependencies,
    occasion,
    async (unit): Promise<PrintedPage | Refusal> => {
      const document = await readDocument(unit, id);
      if (isRefusal(document)) return document;
      const { timezone } = await findInvoiceConfig(unit);
      return printedPage(document, await readOwnTenant(unit), timezone);
    },
  );
  return isRefusal(page) ? page : invoicePdf(page);
}
