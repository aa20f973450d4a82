import { findCustomerByExternalId } from '../../customers/customers-store.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { isOneOf } from '../../records/conditions.js';
import type { Expansion } from '../../records/expand-record.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readUnit, type ReadDependencies, type ReadUnit } from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { readDocuments } from '../../documents/store/read-documents.js';
import {
  invoiceConditions,
  type InvoiceConditions,
  type SearchInvoicesBody,
} from './invoice-search.js';

const answeredAnyway: Expansion<InvoiceRow, null> = () => Promise.resolve(() => null);

/** What `expand` may name. All of it is in every answer, as it was when it was computed. */
const EXPANDABLE = {
  customer: answeredAnyway,
  subscription: answeredAnyway,
  line_items: answeredAnyway,
  coupon_applications: answeredAnyway,
  taxes: answeredAnyway,
};

/** An external id that no published customer has finds nothing. */
async function isOfExternalCustomer(
  { tx }: ReadUnit,
  externalId: string | undefined,
): Promise<InvoiceConditions> {
  if (externalId === undefined) return [];
  const customer = await findCustomerByExternalId(tx, externalId);
  return isOneOf('customer_id', customer === null ? [] : [customer.id]);
}

/** POST /invoices/search: one statement for each kind of part of all invoices of the page. */
export async function searchInvoices(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchInvoicesBody,
): Promise<Page<InvoiceDocument> | Refusal> {
  const own = invoiceConditions(body);
  if (isRefusal(own)) return own;
  return readUnit(dependencies, occasion, async (unit) => {
    const conditions = [...own, ...(await isOfExternalCustomer(unit, body.external_customer_id))];
    const search = { request: body, conditions, expansions: EXPANDABLE };
    const page = await searchExpanded(unit, INVOICES, search);
    const rows = page.items.map(({ row }) => row);
    if (body.skip_line_items === true) {
      const items = rows.map((header) => ({ header, lines: [], coupons: [], taxes: [] }));
      return { ...page, items };
    }
    return { ...page, items: await readDocuments(unit, rows) };
  });
}
