import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { decimalOf, maxOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import { CREDIT_NOTE, INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { notedWithoutTaxes } from '../../domain/settlement/unused-charge.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';

const amount = numericColumn.transform(decimalOf);

const chargedRow = z.object({
  /** Of a charge: its line, and the invoice of that line; null for a credit. */
  line_id: z.string().nullable(),
  invoice_id: z.string().nullable(),
  /** The movement of a wallet that gave it back, or the line of an invoice; null for a charge. */
  credit_id: z.string().nullable(),
  line_item_id: z.string(),
  /** The first one of the line items that continue each other. */
  root_id: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
  /** What was charged, after discounts; or what was given back. */
  amount,
  /** What was charged without discounts; null where none of them is fixed. */
  gross: amount.nullable(),
  trace: INVOICE_LINES.columns.trace.schema.nullable(),
  currency: z.string().nullable(),
  /** What credit notes that are not voided take of it, with taxes. */
  noted: amount,
  tax: amount,
  /** What all lines of its invoice cost together, after discounts. */
  taxed: amount,
  /** What notes and refunds gave back of its invoice, beyond what was overpaid; with taxes. */
  refunded: amount,
});

/** A charge in advance, or a credit of one. */
export type ChargedRow = z.output<typeof chargedRow>;

/** What credit notes that are not voided have given back of the row `line`, with taxes. */
export const NOTED = sql.fragment`
  (SELECT coalesce(sum(noted.amount), 0) FROM credit_note_lines AS noted
    JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
    WHERE noted.invoice_line_item_id = line.id AND ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'counted')}
      AND ${rowIsOfEnvironment('noted')})`;

/**
 * What line items were charged, and what was given back of that for unused time: on whatever
 * invoices and wallets, in the order of time. A draft counts only when it was edited by hand: any
 * other is computed again, and then bills what is due. What voided invoices have absorbed of a
 * credit is none any more.
 * @param lineage common table expressions, for WITH RECURSIVE: `lineage (id, root_id)`.
 * @param afterMs beyond which it must reach; all of it where that is absent.
 */
export function findCharged(
  { tx }: StatementUnit,
  lineage: FragmentSqlToken,
  afterMs: InstantMs | null,
): Promise<readonly ChargedRow[]> {
  const reaches = (of: FragmentSqlToken): FragmentSqlToken =>
    afterMs === null
      ? sql.fragment`true`
      : sql.fragment`${of}.period_end > ${formatInstant(afterMs)}::timestamptz`;
  const ofLine = reaches(sql.fragment`line`);
  return tx.any(sql.type(chargedRow)`
    WITH RECURSIVE ${lineage}
    SELECT line.id AS line_id, line.invoice_id, NULL AS credit_id, lineage.id AS line_item_id,
      lineage.root_id, line.period_start, line.period_end,
      line.amount - line.line_item_discount - line.invoice_level_discount AS amount,
      (SELECT line.amount WHERE EXISTS (SELECT FROM coupon_applications AS coupon
        WHERE coupon.invoice_id = invoice.id AND coupon.discount_type = 'fixed'
          AND ${rowIsOfEnvironment('coupon')})) AS gross,
      line.trace, invoice.currency, ${NOTED} AS noted, invoice.total_tax AS tax,
      (SELECT sum(greatest(0, each.amount - each.line_item_discount - each.invoice_level_discount))
        FROM invoice_line_items AS each
        WHERE each.invoice_id = line.invoice_id AND ${rowIsOfEnvironment('each')}) AS taxed,
      greatest(0, invoice.refunded_amount - invoice.overpaid_amount) AS refunded
    FROM lineage JOIN invoice_line_items AS line ON line.subscription_line_item_id = lineage.id
      AND line.kind = 'charge' AND line.price_type = 'FIXED' AND ${ofLine}
      AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    WHERE ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')}
      OR (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'draft')} AND invoice.is_manually_edited)
    UNION ALL
    SELECT NULL, NULL, credit.wallet_transaction_id, lineage.id, lineage.root_id,
      credit.period_start, credit.period_end, credit.amount - credit.absorbed,
      NULL, NULL, NULL, 0, 0, 0, 0
    FROM lineage JOIN line_credits AS credit ON credit.subscription_line_item_id = lineage.id
      AND credit.absorbed < credit.amount AND ${reaches(sql.fragment`credit`)}
      AND ${rowIsOfEnvironment('credit')}
    UNION ALL
    SELECT NULL, NULL, line.id, lineage.id, lineage.root_id, line.period_start, line.period_end,
      -line.amount - coalesce(line.absorbed, 0), NULL, NULL, NULL, 0, 0, 0, 0
    FROM lineage JOIN invoice_line_items AS line ON line.subscription_line_item_id = lineage.id
      AND line.kind = 'credit' AND coalesce(line.absorbed, 0) < -line.amount AND ${ofLine}
      AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    -- What a voided invoice had set off went to a wallet.
    WHERE ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')}
      OR (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'voided')} AND invoice.finalized_at IS NOT NULL)
    ORDER BY root_id, period_start, line_id, credit_id, line_item_id`);
}

/** What notes have given back of a charge, without taxes. */
export function notedOf({ noted, ...row }: ChargedRow): Decimal {
  return row.currency === null ? ZERO : notedWithoutTaxes(noted, row, row.currency);
}

/** What refunds, which name no line, have left of an invoice, without taxes. */
export function leftOfInvoice({ refunded, ...row }: ChargedRow, currency: string): Decimal {
  return maxOf(ZERO, row.taxed.minus(notedWithoutTaxes(refunded, row, currency)));
}

/**
 * The time that a charge pays for, from its start on. Pauses that had ended before the charge are
 * not part of it (docs/domain.md 23.1).
 */
export function chargedPeriod({
  period_start: startMs,
  period_end,
  trace,
}: Pick<ChargedRow, 'period_start' | 'period_end' | 'trace'>): Interval {
  // Absent means zero: what was given back, or is charged without a time, has no share.
  const coveredMs = trace?.proration?.coveredMs ?? 0;
  return { startMs, endMs: coveredMs > 0 ? startMs + coveredMs : period_end };
}
