import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { groupBy } from '../../../runtime/group-by.js';
import { numericColumn } from '../../../sql/columns.js';
import { CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { shareRefund, type RefundedLine } from '../../domain/settlement/share-refund.js';
import { notedWithoutTaxes } from '../../domain/settlement/unused-charge.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';
import { NOTED } from '../../documents/store/charged-time.js';
import { findLineCredits, sumsByLine, TAX_SET_OFF } from '../../documents/store/credited-lines.js';
import { UNUSED_TIME } from '../../declarations/money/credit-note.resource.js';

const amount = numericColumn.transform(decimalOf);
const lineRow = z.object({
  invoice_id: z.string(),
  line_id: z.string(),
  net: amount,
  display_name: z.string(),
  /** What notes that somebody wrote and that are not voided take of it, with taxes. */
  noted: amount,
  /** Of its invoice, before negative lines. */
  tax: amount,
  currency: z.string(),
  /** What was refunded of the invoice without a note, beyond what was overpaid; with taxes. */
  refunded: amount,
});

/** A line of an invoice, with what notes and refunds of the invoice have given back. */
export type NotedLine = z.output<typeof lineRow>;

/** The lines of invoices, with what notes and refunds have given back. */
export function findNotedLines(
  { tx }: StatementUnit,
  invoiceIds: readonly string[],
): Promise<readonly NotedLine[]> {
  return tx.any(sql.type(lineRow)`
    SELECT line.invoice_id, line.id AS line_id, line.display_name,
      line.amount - line.line_item_discount - line.invoice_level_discount AS net,
      ${NOTED} AS noted,
      invoice.total_tax + ${TAX_SET_OFF} AS tax, invoice.currency,
      greatest(0, invoice.refunded_amount - invoice.overpaid_amount
        - (SELECT coalesce(sum(note.total_amount), 0) FROM credit_notes AS note
          WHERE note.invoice_id = invoice.id AND note.credit_note_type = 'REFUND' AND note.reason IS DISTINCT FROM ${UNUSED_TIME}
            AND ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'given')} AND ${rowIsOfEnvironment('note')})) AS refunded
    FROM invoices AS invoice
    JOIN invoice_line_items AS line ON line.invoice_id = invoice.id AND ${rowIsOfEnvironment('line')}
    WHERE invoice.id = ANY (${sql.array([...invoiceIds], 'text')})
      AND ${rowIsOfEnvironment('invoice')}
    ORDER BY line.invoice_id, line.position, line.id`);
}

/** What notes that somebody wrote have given back of lines of one invoice, without taxes. */
export function notesWithoutTaxes(rows: readonly NotedLine[]): (row: NotedLine) => Decimal {
  const taxed = sumOf(rows.map(({ net }) => net).filter((net) => net.gt(ZERO)));
  return ({ noted, tax, currency }) => notedWithoutTaxes(noted, { tax, taxed }, currency);
}

/** What of a refund of their invoice falls to its lines. */
function sharesOf(
  rows: readonly NotedLine[],
  credited: ReadonlyMap<string, Decimal>,
): ReadonlyMap<string, Decimal> {
  const [first] = rows;
  if (first === undefined) return new Map();
  const noteOf = notesWithoutTaxes(rows);
  const lines = rows.map((row): RefundedLine => {
    // Absent means zero: nothing of the line was unused.
    const givenBack = noteOf(row).plus(credited.get(row.line_id) ?? ZERO);
    return { lineId: row.line_id, net: row.net, givenBack };
  });
  return shareRefund(lines, noteOf({ ...first, noted: first.refunded }), first.currency);
}

/**
 * What refunds and chargebacks of payments have given back of the lines of invoices, without taxes,
 * by the ids of the lines (docs/domain.md 23.1). Credit notes name their lines, and are not of it.
 */
export async function findRefundedLines(
  unit: StatementUnit,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, Decimal>> {
  if (invoiceIds.length === 0) return new Map();
  const ids = [...new Set(invoiceIds)];
  const rows = await findNotedLines(unit, ids);
  const credited = sumsByLine(await findLineCredits(unit, ids), ({ net }) => net);
  const byInvoice = [...groupBy(rows, ({ invoice_id: id }) => id).values()];
  return new Map(byInvoice.flatMap((lines) => [...sharesOf(lines, credited)]));
}
