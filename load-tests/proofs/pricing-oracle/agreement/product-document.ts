import {
  COUPON_APPLICATION_COLUMNS,
  INVOICE_COLUMNS,
  INVOICE_TAX_COLUMNS,
  LINE_COLUMNS,
} from '../../../../billing-api/billing/document/document-columns.js';
import { invoiceToDto } from '../../../../billing-api/billing/answer/invoice-answer.js';
import {
  documentFromRows,
  documentToRows,
  type DocumentRows,
} from '../../../../billing-api/billing/document/document-rows.js';
import type { InvoiceDocument } from '../../../../billing-api/billing/document/invoice-document.js';
import { writeDocument } from '../../../../billing-api/billing/document/write-document.js';
import type {
  InvoiceInputs,
  InvoiceResult,
} from '../../../../billing-api/domain/invoice/invoice.js';
import type { Columns } from '../../../../billing-api/records/columns.js';
import { productParties } from './product-parties.js';

type Row = DocumentRows['invoice'];

/** A row of JSON as the driver gives it when it is read: a timestamptz is a number. */
function asRead(columns: Columns, row: Row): Row {
  const cells = Object.entries(row).map(([name, cell]) => {
    const isInstant = columns[name]?.comparison === 'date' && typeof cell === 'string';
    return [name, isInstant ? Date.parse(cell) : cell] as const;
  });
  return Object.fromEntries(cells);
}

/** What is read of rows that were stored, in an order that says nothing. */
function readAgain(rows: DocumentRows): DocumentRows {
  // Through the text, as the rows go to PostgreSQL.
  const { invoice, lines, coupons, taxes } = JSON.parse(JSON.stringify(rows)) as DocumentRows;
  return {
    invoice: asRead(INVOICE_COLUMNS, invoice),
    lines: lines.map((row) => asRead(LINE_COLUMNS, row)).toReversed(),
    coupons: coupons.map((row) => asRead(COUPON_APPLICATION_COLUMNS, row)).toReversed(),
    taxes: taxes.map((row) => asRead(INVOICE_TAX_COLUMNS, row)).toReversed(),
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
  const document = writeDocument(
    { inputs, invoice, dataUntil: inputs.asOfMs - 1 },
    productParties(inputs),
  );
  const rows = readAgain(documentToRows(document));
  return { computed: answerOf(document), stored: answerOf(documentFromRows(rows)) };
}
