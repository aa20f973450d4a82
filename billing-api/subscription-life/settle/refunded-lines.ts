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
import { findCreditedLines } from '../../documents/store/credited-lines.js';

const amount = numericColumn.transform(decimalOf);
const lineRow = z.object({
  invoice_id: z.string(),
  line_id: z.string(),
  net: amount,
  /** What credit notes that are not voided take of it, with taxes. */
  noted: amount,
  tax: amount,
  currency: z.string(),
  /** What was refunded of the invoice without a note, beyond what was overpaid; with taxes. */
  refunded: amount,
});

type LineRow = z.output<typeof lineRow>;

/** What of a refund of their invoice falls to its lines. */
async function sharesOf(
  unit: StatementUnit,
  invoiceId: string,
  rows: readonly LineRow[],
): Promise<ReadonlyMap<string, Decimal>> {
  const [first] = rows;
  if (first === undefined) return new Map();
  const { currency, tax, refunded } = first;
  const credited = await findCreditedLines(unit, { id: invoiceId, currency });
  const taxes = { tax, taxed: sumOf(rows.map(({ net }) => net).filter((net) => net.gt(ZERO))) };
  const lines = rows.map(({ line_id: lineId, net, noted }): RefundedLine => {
    const ofNotes = notedWithoutTaxes(noted, taxes, currency);
    // Absent means zero: nothing of the line was unused.
    return { lineId, net, givenBack: ofNotes.plus(credited.get(lineId) ?? ZERO) };
  });
  return shareRefund(lines, notedWithoutTaxes(refunded, taxes, currency), currency);
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
  const rows = await unit.tx.any(sql.type(lineRow)`
    SELECT line.invoice_id, line.id AS line_id,
      line.amount - line.line_item_discount - line.invoice_level_discount AS net,
      ${NOTED} AS noted,
      invoice.total_tax AS tax, invoice.currency,
      greatest(0, invoice.refunded_amount - invoice.overpaid_amount
        - (SELECT coalesce(sum(note.total_amount), 0) FROM credit_notes AS note
          WHERE note.invoice_id = invoice.id AND note.credit_note_type = 'REFUND'
            AND ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'given')} AND ${rowIsOfEnvironment('note')})) AS refunded
    FROM invoices AS invoice
    JOIN invoice_line_items AS line ON line.invoice_id = invoice.id AND ${rowIsOfEnvironment('line')}
    WHERE invoice.id = ANY (${sql.array([...new Set(invoiceIds)], 'text')})
      AND ${rowIsOfEnvironment('invoice')}
    ORDER BY line.invoice_id, line.position, line.id`);
  const shares = new Map<string, Decimal>();
  for (const [invoiceId, lines] of groupBy(rows, ({ invoice_id: id }) => id)) {
    for (const [id, share] of await sharesOf(unit, invoiceId, lines)) shares.set(id, share);
  }
  return shares;
}
