import { CREDIT_NOTE, INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../../contract/number/decimal.js';
import { numericColumn } from '../../../sql/columns.js';
import { minorUnitOf } from '../../domain/money/minor-digits.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import { UNUSED_TIME } from '../../declarations/money/credit-note.resource.js';
import { creditsOf } from '../../documents/store/credited-lines.js';
import { findUnaccountedCredits } from './credit-sources.js';

/** Documents that together give back more than was charged or paid. */
type DocumentsProblem = {
  readonly entity_type: string;
  readonly entity_id: string;
  readonly problem: string;
};

const amount = numericColumn.transform(decimalOf);
const givenBackRow = z.object({
  entity_type: z.enum(['invoice_line_item', 'invoice']),
  entity_id: z.string(),
  currency: z.string(),
  /** What documents give back together may be. */
  most: amount,
  unused: amount,
  /** By credit notes; of an invoice also by refunds and chargebacks. */
  refunded: amount,
  /** By voiding the invoice. */
  returned: amount,
  /** How many amounts were rounded where the law divides them exactly. */
  roundings: z.number().int(),
  /** The invoices that are concerned. */
  invoice_ids: z.array(z.string()),
});
type GivenBackRow = z.output<typeof givenBackRow>;

const netOfLine = sql.fragment`
  greatest(0, line.amount - line.line_item_discount - line.invoice_level_discount)`;

/**
 * `back` has what was given back of lines of invoices, with taxes: by notes for unused time and
 * negative lines, and by notes that somebody wrote; `of_lines` the lines of which that is more than
 * they charge.
 */
const lines = sql.fragment`
  credited AS MATERIALIZED (
    SELECT * FROM (${creditsOf(sql.fragment`SELECT each.invoice_line_item_id FROM credited_charges AS each
      WHERE ${rowIsOfEnvironment('each')}`)}) AS credit WHERE credit.note_id IS NULL
  ), noted AS MATERIALIZED (
    SELECT noted.invoice_line_item_id AS line_id, noted.amount, note.invoice_id, note.reason IS NOT DISTINCT FROM ${UNUSED_TIME} AS is_unused,
      note.credit_note_type = 'REFUND' AS is_refund
    FROM credit_note_lines AS noted
    JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
    WHERE ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'counted')} AND ${rowIsOfEnvironment('noted')}
  ), back AS MATERIALIZED (
    SELECT line_id, sum(unused) AS unused, sum(noted) AS noted FROM (
      SELECT line_id, net + tax AS unused, 0 AS noted FROM credited
      UNION ALL
      SELECT line_id, CASE WHEN is_unused THEN amount ELSE 0 END, CASE WHEN is_unused THEN 0 ELSE amount END FROM noted) AS one
    GROUP BY 1
  ), tax_set_off AS MATERIALIZED (
    SELECT line.invoice_id, sum(given.tax_amount) AS tax, coalesce(sum(given.tax_amount) FILTER (WHERE NOT is_own), 0) AS of_others,
      coalesce(sum(given.net_amount) FILTER (WHERE is_own), 0) AS own FROM credited_charges AS given
    JOIN invoice_line_items AS line ON line.id = given.credit_line_id AND ${rowIsOfEnvironment('line')}
    WHERE ${rowIsOfEnvironment('given')} GROUP BY 1
  ), taxed AS (
    SELECT line.invoice_id, sum(${netOfLine}) AS net, count(*) AS lines FROM invoice_line_items AS line
    WHERE ${rowIsOfEnvironment('line')} AND line.invoice_id IN (
      SELECT own.invoice_id FROM back JOIN invoice_line_items AS own ON own.id = back.line_id AND ${rowIsOfEnvironment('own')})
    GROUP BY 1
  ), charges AS (
    SELECT line.id, line.invoice_id, invoice.currency, ${netOfLine} AS net, taxed.net AS taxed, taxed.lines, back.unused, back.noted,
      invoice.total_tax + coalesce(tax_set_off.tax, 0) AS tax
    FROM back JOIN invoice_line_items AS line ON line.id = back.line_id AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    JOIN taxed ON taxed.invoice_id = line.invoice_id
    LEFT JOIN tax_set_off ON tax_set_off.invoice_id = line.invoice_id
    WHERE ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')}
  ), of_lines AS (
    SELECT id AS entity_id, currency, net + CASE WHEN tax = 0 THEN 0 ELSE coalesce(net * tax / nullif(taxed, 0), 0) END AS most,
      unused, noted AS refunded, 0 AS returned, CASE WHEN tax = 0 THEN 0 ELSE lines END AS roundings,
      ARRAY[invoice_id] AS invoice_ids
    FROM charges
  )`;

/**
 * Invoices of which more came back, in whatever way, than was paid and set off for them, and is
 * owed.
 */
const invoices = sql.fragment`
  shared AS (
    SELECT invoice_id, sum(amount) AS amount FROM (
      SELECT invoice_id, amount FROM noted WHERE is_unused AND is_refund
      UNION ALL
      SELECT line.invoice_id, credited.net + credited.tax FROM credited
      JOIN invoice_line_items AS line ON line.id = credited.line_id AND ${rowIsOfEnvironment('line')}
      WHERE credited.way <> 'own') AS one
    GROUP BY 1
  ), lowered AS (
    SELECT line.invoice_id, -sum(line.amount) AS amount,
      coalesce(-sum(line.amount) FILTER (WHERE line.kind = 'credit'), 0) AS set_off
    FROM invoice_line_items AS line WHERE line.amount < 0 AND ${rowIsOfEnvironment('line')} GROUP BY 1
  ), given AS (
    SELECT posting.entity_id AS invoice_id,
      -sum(posting.amount) FILTER (WHERE movement.kind = 'invoice.voided' AND posting.account = 'wallet') AS returned,
      -- Credits that are no whole amount of money.
      count(*) FILTER (WHERE movement.kind = 'invoice.voided' AND posting.account = 'write_off') AS roundings,
      -sum(posting.amount) FILTER (WHERE movement.kind = 'invoice.credited' AND posting.account = 'wallet') AS excess
    FROM ledger_postings AS posting
    JOIN ledger_groups AS movement ON movement.id = posting.group_id AND ${rowIsOfEnvironment('movement')}
    WHERE posting.account IN ('wallet', 'write_off') AND posting.entity_type = 'invoice'
      AND movement.kind IN ('invoice.voided', 'invoice.credited') AND ${rowIsOfEnvironment('posting')}
    GROUP BY 1
  ), of_invoices AS (
    SELECT invoice.id, invoice.currency, coalesce(tax_set_off.of_others - tax_set_off.own, 0) + CASE
        WHEN ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')} THEN greatest(invoice.amount_paid, invoice.amount_due) + coalesce(lowered.amount, 0) - coalesce(given.excess, 0)
        ELSE invoice.amount_paid + coalesce(lowered.set_off, 0) END + invoice.total_prepaid_credits_applied AS most,
      coalesce(shared.amount, 0) AS unused,
      invoice.refunded_amount AS refunded, coalesce(given.returned, 0) AS returned,
      coalesce(given.roundings, 0) AS roundings
    FROM invoices AS invoice
    LEFT JOIN shared ON shared.invoice_id = invoice.id
    LEFT JOIN tax_set_off ON tax_set_off.invoice_id = invoice.id
    LEFT JOIN lowered ON lowered.invoice_id = invoice.id
    LEFT JOIN given ON given.invoice_id = invoice.id
    WHERE invoice.finalized_at IS NOT NULL AND ${rowIsOfEnvironment('invoice')}
  )`;

const SHOWN_MAX = 1000;

function problemOf(row: GivenBackRow): DocumentsProblem {
  const { entity_type, entity_id, most, unused, refunded, returned, invoice_ids: ids } = row;
  const ways = [
    ...(unused.isZero() ? [] : [`${plain(unused)} for unused time`]),
    ...(refunded.isZero() ? [] : [`${plain(refunded)} by notes and refunds`]),
    ...(returned.isZero() ? [] : [`${plain(returned)} by voiding`]),
  ];
  const what = {
    invoice_line_item: `it charges ${plain(most)} with taxes (${ids.join(', ')})`,
    invoice: `${plain(most)} was paid and set off for it, or is owed`,
  }[entity_type];
  return { entity_type, entity_id, problem: `${what}, and ${ways.join(', ')} came back` };
}

/** Whether more is given back than rounding explains. */
function isBeyond({
  most,
  unused,
  refunded,
  returned,
  roundings,
  currency,
}: GivenBackRow): boolean {
  const back: Decimal = unused.plus(refunded).plus(returned);
  return back.greaterThan(most.plus(minorUnitOf(currency).times(roundings)));
}

/**
 * What documents give back together: of what was charged, of what was paid, and into wallets
 * (docs/domain.md 21.3). Each document agrees with its own postings (`findDifferences`), and two of
 * them may still give the same money back.
 */
export async function findBrokenDocuments(unit: ReadUnit): Promise<readonly DocumentsProblem[]> {
  const rows = await unit.tx.any(sql.type(givenBackRow)`
    WITH ${lines}, ${invoices}
    SELECT 'invoice_line_item' AS entity_type, entity_id, currency, most, unused, refunded, returned, roundings::int AS roundings, invoice_ids
    FROM of_lines WHERE unused + refunded > most
    UNION ALL
    SELECT 'invoice', id, currency, most, unused, refunded, returned, roundings::int, ARRAY[id]
    FROM of_invoices WHERE unused + refunded + returned > most
    ORDER BY entity_type, entity_id LIMIT ${SHOWN_MAX}`);
  const givenBack = rows.filter(isBeyond).map(problemOf);
  return [...givenBack, ...(await findUnaccountedCredits(unit))];
}
