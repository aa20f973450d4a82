import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { decimalOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import { UNUSED_TIME } from '../../declarations/money/credit-note.resource.js';
import { CREDIT_NOTE, INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { notedWithoutTaxes } from '../../domain/settlement/unused-charge.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';
import { creditsOf, TAX_SET_OFF } from './credited-lines.js';

const amount = numericColumn.transform(decimalOf);

const chargedRow = z.object({
  /** The line of an invoice that charges the time, or that a credit gives back. */
  line_id: z.string(),
  /** The invoice of a charge; null for a credit. */
  invoice_id: z.string().nullable(),
  line_item_id: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
  /** What was charged, after discounts; or what was given back. */
  amount,
  /** What was charged without discounts; null where none of them is fixed. */
  gross: amount.nullable(),
  display_name: z.string(),
  trace: INVOICE_LINES.columns.trace.schema.nullable(),
  currency: z.string().nullable(),
  /** What notes that somebody wrote and that are not voided take of it, with taxes. */
  noted: amount,
  /** Of its invoice, before negative lines. */
  tax: amount,
  /** What all lines of its invoice cost together, after discounts. */
  taxed: amount,
  /** What notes and refunds gave back of its invoice, beyond what was overpaid; with taxes. */
  refunded: amount,
});

/** A charge in advance, or a credit of one. */
export type ChargedRow = z.output<typeof chargedRow>;

/**
 * What notes that somebody wrote, and that are not voided, have given back of the row `line`, with
 * taxes.
 */
export const NOTED = sql.fragment`
  (SELECT coalesce(sum(noted.amount), 0) FROM credit_note_lines AS noted
    JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
    WHERE noted.invoice_line_item_id = line.id AND note.reason IS DISTINCT FROM ${UNUSED_TIME}
      AND ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'counted')} AND ${rowIsOfEnvironment('noted')})`;

/**
 * What line items were charged, and what was given back of that for unused time, in the order of
 * time. A draft counts only when it was edited by hand: any other is computed again, and then bills
 * what is due. What was given back of a voided invoice counts no more than its charges.
 * @param afterMs beyond which it must reach.
 */
export function findCharged(
  { tx }: StatementUnit,
  lineItemIds: readonly string[],
  afterMs: InstantMs,
): Promise<readonly ChargedRow[]> {
  const reaches = (of: FragmentSqlToken): FragmentSqlToken =>
    sql.fragment`${of}.period_end > ${formatInstant(afterMs)}::timestamptz`;
  return tx.any(sql.type(chargedRow)`
    WITH charged AS MATERIALIZED (
      SELECT line.* FROM invoice_line_items AS line
      JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
      WHERE line.subscription_line_item_id = ANY (${sql.array([...lineItemIds], 'text')})
        AND line.kind = 'charge' AND line.price_type = 'FIXED' AND ${rowIsOfEnvironment('line')}
        AND (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')}
          OR (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'draft')} AND invoice.is_manually_edited))
    )
    SELECT line.id AS line_id, line.invoice_id, line.subscription_line_item_id AS line_item_id,
      line.period_start, line.period_end,
      line.amount - line.line_item_discount - line.invoice_level_discount AS amount,
      (SELECT line.amount WHERE EXISTS (SELECT FROM coupon_applications AS coupon
        WHERE coupon.invoice_id = invoice.id AND coupon.discount_type = 'fixed'
          AND ${rowIsOfEnvironment('coupon')})) AS gross,
      line.display_name, line.trace, invoice.currency, ${NOTED} AS noted,
      invoice.total_tax + ${TAX_SET_OFF} AS tax,
      (SELECT sum(greatest(0, each.amount - each.line_item_discount - each.invoice_level_discount))
        FROM invoice_line_items AS each
        WHERE each.invoice_id = line.invoice_id AND ${rowIsOfEnvironment('each')}) AS taxed,
      greatest(0, invoice.refunded_amount - invoice.overpaid_amount) AS refunded
    FROM charged AS line JOIN invoices AS invoice ON invoice.id = line.invoice_id
    WHERE ${reaches(sql.fragment`line`)} AND ${rowIsOfEnvironment('invoice')}
    UNION ALL
    SELECT credit.line_id, NULL, credit.line_item_id, credit.period_start, credit.period_end, credit.net,
      NULL, '', NULL, NULL, 0, 0, 0, 0
    FROM (${creditsOf(sql.fragment`SELECT charged.id FROM charged`)}) AS credit
    WHERE ${reaches(sql.fragment`credit`)}
    ORDER BY period_start, line_id, line_item_id`);
}

/** What notes have given back of a charge, without taxes. */
export function notedOf({ noted, ...row }: ChargedRow): Decimal {
  return row.currency === null ? ZERO : notedWithoutTaxes(noted, row, row.currency);
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
