import { sql } from 'slonik';
import { groupBy } from '../../../runtime/group-by.js';
import { COUPON_APPLICATIONS } from '../../declarations/invoices/coupon-application.resource.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import { INVOICE_TAXES } from '../../declarations/invoices/invoice-tax.resource.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { Columns } from '../../records/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { findRecord } from '../../records/find-record.js';
import { accept, notFound } from '../../records/refusal.js';
import type { Resource, RowOf } from '../../records/resource.js';
import type { StatementUnit } from '../../records/unit.js';
import type { InvoiceDocument } from '../invoice-document.js';
import { documentOf, type DocumentParts } from './document-parts.js';

type Part = { readonly invoice_id: string | null; readonly position: number };

/** The parts of invoices of one kind, by invoice, in their order. */
async function findParts<C extends Columns>(
  { tx }: StatementUnit,
  resource: Resource<C>,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string | null, readonly RowOf<C>[]>> {
  const rows = await tx.any(sql.type(resource.row)`
    SELECT * FROM ${sql.identifier([resource.table])}
    WHERE invoice_id = ANY (${sql.array([...invoiceIds], 'text')}) AND ${isOfEnvironment}
    ORDER BY invoice_id, position`);
  return groupBy(rows, (row) => (row as RowOf<C> & Part).invoice_id);
}

/** The lines, coupons and taxes of stored invoices. One statement for each kind. */
export async function findDocumentParts(
  unit: StatementUnit,
  invoiceIds: readonly string[],
): Promise<(invoiceId: string) => DocumentParts> {
  if (invoiceIds.length === 0) return () => ({ lines: [], coupons: [], taxes: [] });
  const lines = await findParts(unit, INVOICE_LINES, invoiceIds);
  const coupons = await findParts(unit, COUPON_APPLICATIONS, invoiceIds);
  const taxes = await findParts(unit, INVOICE_TAXES, invoiceIds);
  return (id) => ({
    // Absent means none: the invoice has no lines.
    lines: lines.get(id) ?? [],
    // Absent means none: no coupon was applied.
    coupons: coupons.get(id) ?? [],
    // Absent means none: no tax was applied.
    taxes: taxes.get(id) ?? [],
  });
}

/** The documents of stored invoices, in their order. */
export async function readDocuments(
  unit: StatementUnit,
  rows: readonly InvoiceRow[],
): Promise<readonly InvoiceDocument[]> {
  const partsOf = await findDocumentParts(
    unit,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => documentOf(row, partsOf(row.id)));
}

/** The document of a stored invoice; otherwise the 404 that names it. */
export async function readDocument(unit: StatementUnit, id: string): Promise<InvoiceDocument> {
  const row = accept((await findRecord(unit, INVOICES, id)) ?? notFound(INVOICES.name, id));
  return documentOf(row, (await findDocumentParts(unit, [id]))(id));
}
