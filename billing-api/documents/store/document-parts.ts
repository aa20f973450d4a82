import { sql, type FragmentSqlToken } from 'slonik';
import { mustGet } from '../../../runtime/failure.js';
import { noRows } from '../../../sql/columns.js';
import { COUPON_APPLICATIONS } from '../../declarations/invoices/coupon-application.resource.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import { INVOICE_TAXES } from '../../declarations/invoices/invoice-tax.resource.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { insertParts } from '../../records/create-record.js';
import { authorOf } from '../../records/occasion.js';
import type { Unit } from '../../records/unit.js';
import { placeName, type DocumentCoupon, type InvoiceDocument } from '../invoice-document.js';

/** The lines, coupons and taxes of an invoice. */
export type DocumentParts = Pick<InvoiceDocument, 'lines' | 'coupons' | 'taxes'>;

/** A document whose parts have got their ids. */
export type StoredParts = {
  readonly [Name in keyof DocumentParts]: readonly (DocumentParts[Name][number] & {
    readonly id: string;
  })[];
};

/** A coupon that names its line, if any, by the id that the line has got. */
export function withLine<Coupon extends Pick<DocumentCoupon, 'invoice_line_item_id'>>(
  coupon: Coupon,
  idOf: ReadonlyMap<string, string>,
): Coupon {
  const { invoice_line_item_id: name } = coupon;
  if (name === null) return coupon;
  return { ...coupon, invoice_line_item_id: mustGet(idOf, name, 'the line of a coupon') };
}

/** The parts of an invoice as records of this unit, each with an id of its own. */
export function identified(
  { newId, now, actor }: Unit,
  invoiceId: string,
  { lines, coupons, taxes }: DocumentParts,
): StoredParts {
  const author = authorOf(actor);
  const stamp = { created_at: now, created_by: author, updated_at: now, updated_by: author };
  const stored = <Part extends object>(prefix: string, part: Part) => ({
    ...part,
    ...stamp,
    invoice_id: invoiceId,
    id: newId(prefix),
  });
  const storedLines = lines.map((line) => stored(INVOICE_LINES.idPrefix, line));
  const idOf = new Map(storedLines.map(({ id }, place) => [placeName(place), id]));
  return {
    lines: storedLines,
    coupons: coupons.map((coupon) => stored(COUPON_APPLICATIONS.idPrefix, withLine(coupon, idOf))),
    taxes: taxes.map((tax) => stored(INVOICE_TAXES.idPrefix, tax)),
  };
}

/** Stores the parts of new invoices. One statement for each kind of part. */
export async function insertDocumentParts(
  unit: Unit,
  documents: readonly StoredParts[],
): Promise<void> {
  await insertParts(
    unit,
    INVOICE_LINES,
    documents.flatMap(({ lines }) => lines),
  );
  await insertParts(
    unit,
    COUPON_APPLICATIONS,
    documents.flatMap(({ coupons }) => coupons),
  );
  await insertParts(
    unit,
    INVOICE_TAXES,
    documents.flatMap(({ taxes }) => taxes),
  );
}

const PART_TABLES = [INVOICE_LINES, COUPON_APPLICATIONS, INVOICE_TAXES].map(({ table }) => table);

/** Puts the parts of a later computation in the place of those of locked invoices. */
export async function replaceDocumentParts(
  unit: Unit,
  invoiceIds: readonly string[],
  documents: readonly StoredParts[],
): Promise<void> {
  const ids: FragmentSqlToken = sql.fragment`${sql.array([...invoiceIds], 'text')}`;
  for (const table of PART_TABLES) {
    await unit.tx.query(sql.type(noRows)`
      DELETE FROM ${sql.identifier([table])} WHERE invoice_id = ANY (${ids}) AND ${isOfEnvironment}`);
  }
  await insertDocumentParts(unit, documents);
}

/** The document of a stored invoice. */
export function documentOf(header: InvoiceRow, parts: DocumentParts): InvoiceDocument {
  return { header, lines: parts.lines, coupons: parts.coupons, taxes: parts.taxes };
}
