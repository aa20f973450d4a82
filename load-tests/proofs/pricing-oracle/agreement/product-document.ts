import { invoiceToDto } from '../../../../billing-api/documents/answer/invoice-answer.js';
import type { InvoiceDocument } from '../../../../billing-api/documents/invoice-document.js';
import { writeDocument } from '../../../../billing-api/documents/write-document.js';
import { COUPON_APPLICATIONS } from '../../../../billing-api/declarations/invoices/coupon-application.resource.js';
import { INVOICE_LINES } from '../../../../billing-api/declarations/invoices/invoice-line.resource.js';
import { INVOICE_TAXES } from '../../../../billing-api/declarations/invoices/invoice-tax.resource.js';
import { INVOICES } from '../../../../billing-api/declarations/invoices/invoice.resource.js';
import type {
  InvoiceInputs,
  InvoiceResult,
} from '../../../../billing-api/domain/invoice/invoice.js';
import type { Columns } from '../../../../billing-api/records/columns.js';
import { rowToJson, type Resource, type RowOf } from '../../../../billing-api/records/resource.js';
import { productParties } from './product-parties.js';

const AT = Date.parse('2026-02-01T02:00:00.500Z');

/** What makes a part of an invoice a record. */
const STORED = {
  tenant_id: 'tenant',
  environment_id: 'environment',
  invoice_id: 'inv_1',
  created_at: AT,
  created_by: 'job:bill',
  updated_at: AT,
  updated_by: null,
};

/** A row as PostgreSQL gives it: written as JSON and read, where a timestamptz is a number. */
function readAgain<C extends Columns>(resource: Resource<C>, part: object, id: string): RowOf<C> {
  const known = Object.keys(resource.allColumns);
  const values = Object.entries({ ...part, ...STORED, id }).filter(([name]) =>
    known.includes(name),
  );
  const text = JSON.stringify(rowToJson(resource, Object.fromEntries(values)));
  const cells = Object.entries(JSON.parse(text) as Record<string, unknown>);
  const read = cells.map(([name, cell]) => {
    const isInstant = resource.allColumns[name]?.comparison === 'date' && typeof cell === 'string';
    return [name, isInstant ? Date.parse(cell) : cell] as const;
  });
  return resource.row.parse(Object.fromEntries(read));
}

/** The document with the identity of one that is stored. */
function asStored({ header, lines, coupons, taxes }: InvoiceDocument): InvoiceDocument {
  const part = <Part extends object>(one: Part, place: number, kind: string): Part => ({
    ...one,
    ...STORED,
    id: `${kind}_${place}`,
  });
  return {
    header: part(header, 1, 'inv'),
    lines: lines.map((line, place) => part(line, place, 'line')),
    coupons: coupons.map((coupon, place) => part(coupon, place, 'coupon')),
    taxes: taxes.map((tax, place) => part(tax, place, 'tax')),
  };
}

/** The document as its stored rows make it. */
function throughRows({ header, lines, coupons, taxes }: InvoiceDocument): InvoiceDocument {
  return {
    header: readAgain(INVOICES, header, 'inv_1'),
    lines: lines.map((line, place) => readAgain(INVOICE_LINES, line, `line_${place}`)),
    coupons: coupons.map((one, place) => readAgain(COUPON_APPLICATIONS, one, `coupon_${place}`)),
    taxes: taxes.map((tax, place) => readAgain(INVOICE_TAXES, tax, `tax_${place}`)),
  };
}

/** Every byte of what is answered about an invoice, with the explanation of every line. */
function answerOf(document: InvoiceDocument): string {
  return JSON.stringify(invoiceToDto(document, { limit: 1_000, offset: 0 }));
}

/** The answer about an invoice: as it was computed, and as its stored rows make it. */
export function bothAnswers(
  inputs: InvoiceInputs,
  invoice: InvoiceResult,
): { readonly computed: string; readonly stored: string } {
  const unstored = writeDocument(
    { inputs, invoice, billingReason: 'SUBSCRIPTION_CYCLE', dataUntil: inputs.asOfMs - 1 },
    productParties(inputs),
  );
  const document = asStored(unstored);
  return { computed: answerOf(document), stored: answerOf(throughRows(document)) };
}
