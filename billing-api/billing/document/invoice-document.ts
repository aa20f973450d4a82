import type { Columns, ValueOf } from '../../records/columns.js';
import type {
  COUPON_APPLICATION_COLUMNS,
  identityColumns,
  INVOICE_COLUMNS,
  INVOICE_TAX_COLUMNS,
  LINE_COLUMNS,
  stateColumns,
} from './document-columns.js';

type RowOf<C extends Columns> = { readonly [Name in keyof C]: ValueOf<C[Name]> };

/** What makes a part of a document a record; without an id it is not stored. */
export type RecordIdentity = RowOf<typeof identityColumns>;
export type InvoiceHeader = RowOf<typeof INVOICE_COLUMNS>;
export type DocumentLine = RowOf<typeof LINE_COLUMNS>;
export type DocumentCoupon = RowOf<typeof COUPON_APPLICATION_COLUMNS>;
export type DocumentTax = RowOf<typeof INVOICE_TAX_COLUMNS>;

/**
 * What an invoice is, whether it is only computed or stored: every answer about it is made from
 * this value alone. Its parts are the rows of its tables, so it is stored by writing them, and made
 * from a stored invoice by reading them.
 */
export type InvoiceDocument = {
  readonly header: InvoiceHeader;
  /** This and the next two in the order in which they are shown. */
  readonly lines: readonly DocumentLine[];
  readonly coupons: readonly DocumentCoupon[];
  readonly taxes: readonly DocumentTax[];
};

/** The identity of every part of a document that is not stored. */
export const NOT_STORED: RecordIdentity = {
  id: null,
  metadata: {},
  status: 'published',
  created_at: null,
  created_by: null,
  updated_at: null,
  updated_by: null,
};

/** Where every invoice begins: as a draft that nobody has stored, numbered, sent or paid. */
export const NEW_DRAFT: RecordIdentity & RowOf<typeof stateColumns> = {
  ...NOT_STORED,
  invoice_number: null,
  invoice_status: 'DRAFT',
  payment_status: 'INITIATED',
  billing_sequence: null,
  description: null,
  issue_date: null,
  finalized_at: null,
  paid_at: null,
  voided_at: null,
  invoice_pdf_url: null,
  idempotency_key: null,
  recalculated_invoice_id: null,
  version: 1,
};
