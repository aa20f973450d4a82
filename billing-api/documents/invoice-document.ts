import type { CouponApplicationRow } from '../declarations/invoices/coupon-application.resource.js';
import type { InvoiceLineRow } from '../declarations/invoices/invoice-line.resource.js';
import type { InvoiceTaxRow } from '../declarations/invoices/invoice-tax.resource.js';
import type { InvoiceRow } from '../declarations/invoices/invoice.resource.js';
import type { RecordRow } from '../records/resource.js';

type IdentityMember =
  'id' | 'status' | 'metadata' | 'created_at' | 'created_by' | 'updated_at' | 'updated_by';

/** Who made a part of an invoice a record, and when: nobody, as long as it is not stored. */
export type RecordIdentity = {
  readonly [Name in IdentityMember]:
    RecordRow[Name] | (Name extends 'status' | 'metadata' ? never : null);
};
/** A row whose identity is known once it is stored; a part belongs to the tenant of its invoice. */
type Unstored<Row> = RecordIdentity & Omit<Row, keyof RecordRow>;

export type InvoiceHeader = Unstored<InvoiceRow> & Pick<InvoiceRow, 'tenant_id' | 'environment_id'>;
export type DocumentLine = Unstored<InvoiceLineRow>;
export type DocumentCoupon = Unstored<CouponApplicationRow>;
export type DocumentTax = Unstored<InvoiceTaxRow>;

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

/**
 * The name of a line that is not stored, by its place on the invoice: what a coupon took it off can
 * be told by it.
 */
export function placeName(position: number): string {
  return `line_${position + 1}`;
}

/** Where every invoice begins: as a draft that nobody has stored, numbered, sent or paid. */
export const NEW_DRAFT = {
  ...NOT_STORED,
  invoice_number: null,
  number_series: null,
  invoice_status: 'DRAFT',
  payment_status: 'INITIATED',
  billing_sequence: null,
  description: null,
  issue_date: null,
  finalize_at: null,
  finalized_at: null,
  paid_at: null,
  voided_at: null,
  is_manually_edited: false,
  invoice_pdf_url: null,
  idempotency_key: null,
  recalculated_invoice_id: null,
  version: 1,
} as const satisfies Partial<InvoiceHeader>;
