import type { Columns, ValueOf } from '../../records/columns.js';
import {
  COUPON_APPLICATION_COLUMNS,
  INVOICE_COLUMNS,
  INVOICE_TAX_COLUMNS,
  LINE_COLUMNS,
} from './document-columns.js';
import type { InvoiceDocument } from './invoice-document.js';

/** A row by the names of its columns. */
type Row = Readonly<Record<string, unknown>>;

/** The rows of an invoice, by the tables that hold its parts. */
export type DocumentRows = {
  readonly invoice: Row;
  readonly lines: readonly Row[];
  readonly coupons: readonly Row[];
  readonly taxes: readonly Row[];
};

type ValuesOf<C extends Columns> = { readonly [Name in keyof C]: ValueOf<C[Name]> };

function toRow<C extends Columns>(columns: C, values: ValuesOf<C>): Row {
  const cells = Object.entries(columns).map(([name, column]) => {
    return [name, column.toJson(values[name])] as const;
  });
  return Object.fromEntries(cells);
}

function fromRow<C extends Columns>(columns: C, row: Row): ValuesOf<C> {
  const cells = Object.entries(columns).map(([name, { schema }]) => {
    return [name, schema.parse(row[name])] as const;
  });
  // The loop makes exactly these columns, which TypeScript cannot see.
  return Object.fromEntries(cells) as ValuesOf<C>;
}

/** The rows of a document in JSON, from which PostgreSQL makes those of its tables. */
export function documentToRows({ header, lines, coupons, taxes }: InvoiceDocument): DocumentRows {
  return {
    invoice: toRow(INVOICE_COLUMNS, header),
    lines: lines.map((line) => toRow(LINE_COLUMNS, line)),
    coupons: coupons.map((coupon) => toRow(COUPON_APPLICATION_COLUMNS, coupon)),
    taxes: taxes.map((tax) => toRow(INVOICE_TAX_COLUMNS, tax)),
  };
}

const byPosition = (left: { position: number }, right: { position: number }): number =>
  left.position - right.position;

/**
 * The document that was stored as these rows, which may come in any order.
 * @throws for a row that lacks a column or has a value of another type.
 */
export function documentFromRows({
  invoice,
  lines,
  coupons,
  taxes,
}: DocumentRows): InvoiceDocument {
  const partsOf = <C extends Columns & { readonly position: Columns[string] }>(
    columns: C,
    rows: readonly Row[],
  ) => rows.map((row) => fromRow(columns, row));
  return {
    header: fromRow(INVOICE_COLUMNS, invoice),
    lines: partsOf(LINE_COLUMNS, lines).toSorted(byPosition),
    coupons: partsOf(COUPON_APPLICATION_COLUMNS, coupons).toSorted(byPosition),
    taxes: partsOf(INVOICE_TAX_COLUMNS, taxes).toSorted(byPosition),
  };
}
