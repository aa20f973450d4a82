import { sql } from 'slonik';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { INVOICE, CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** What still counts of a credit for unused time: not what voiding an invoice took off again. */
const countedCredit = sql.fragment`credit.amount - credit.absorbed`;

/** The same of what an invoice has set off of earlier charges. */
const countedSetOff = sql.fragment`-line.amount - coalesce(line.absorbed, 0)`;

const netOfLine = sql.fragment`
  greatest(0, line.amount - line.line_item_discount - line.invoice_level_discount)`;

/**
 * Common table expressions, for WITH RECURSIVE: `unused` has the credits for unused time, `lineage`
 * line items with the first one that they continue, and `charges` the lines of invoices of which
 * something was given back, by credits or by notes. Everything is joined once, since looking it up
 * for each record takes the square of their number.
 */
export const CHARGED_LINEAGES = sql.fragment`
  noted AS MATERIALIZED (
    SELECT noted.invoice_line_item_id AS line_id, sum(noted.amount) AS amount
    FROM credit_note_lines AS noted
    JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
    WHERE ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'counted')} AND ${rowIsOfEnvironment('noted')} GROUP BY 1
  ), unused AS MATERIALIZED (
    SELECT credit.wallet_transaction_id || ' ' || credit.subscription_line_item_id AS id,
      credit.subscription_line_item_id AS item_id, credit.period_start, credit.period_end, ${countedCredit} AS amount
    FROM line_credits AS credit WHERE ${countedCredit} > 0 AND ${rowIsOfEnvironment('credit')}
    UNION ALL
    -- What a voided invoice had set off went to a wallet.
    SELECT line.id, line.subscription_line_item_id, line.period_start, line.period_end, ${countedSetOff}
    FROM invoice_line_items AS line
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    WHERE line.kind = 'credit' AND ${countedSetOff} > 0 AND ${rowIsOfEnvironment('line')}
      AND (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')} OR invoice.finalized_at IS NOT NULL)
  ), above AS (
    SELECT item.id, item.predecessor_id FROM subscription_line_items AS item
    WHERE ${rowIsOfEnvironment('item')} AND item.id IN (
      SELECT item_id FROM unused
      UNION SELECT line.subscription_line_item_id FROM noted
        JOIN invoice_line_items AS line ON line.id = noted.line_id AND ${rowIsOfEnvironment('line')})
    UNION
    SELECT item.id, item.predecessor_id FROM subscription_line_items AS item
    JOIN above ON above.predecessor_id = item.id
    WHERE ${rowIsOfEnvironment('item')}
  ), lineage AS (
    SELECT id, id AS root_id FROM above WHERE predecessor_id IS NULL
    UNION ALL
    SELECT item.id, lineage.root_id FROM subscription_line_items AS item
    JOIN lineage ON lineage.id = item.predecessor_id
    WHERE ${rowIsOfEnvironment('item')}
  ), taxed AS (
    SELECT line.invoice_id, sum(${netOfLine}) AS net, count(*) AS lines FROM invoice_line_items AS line
    WHERE ${rowIsOfEnvironment('line')} AND line.invoice_id IN (
      SELECT note.invoice_id FROM credit_notes AS note WHERE ${rowIsOfEnvironment('note')})
    GROUP BY 1
  ), charges AS MATERIALIZED (
    SELECT lineage.root_id, line.id, line.invoice_id, invoice.currency, line.period_start, line.period_end,
      ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')} AS is_final, ${netOfLine} AS net, coalesce(noted.amount, 0) AS noted, invoice.total_tax AS tax, coalesce(taxed.net, 0) AS taxed, taxed.lines
    FROM invoice_line_items AS line
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    LEFT JOIN lineage ON lineage.id = line.subscription_line_item_id AND line.kind = 'charge' AND line.price_type = 'FIXED'
    LEFT JOIN noted ON noted.line_id = line.id
    LEFT JOIN taxed ON taxed.invoice_id = line.invoice_id
    WHERE line.kind <> 'credit' AND (lineage.id IS NOT NULL OR noted.line_id IS NOT NULL)
      AND (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')} OR (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'draft')} AND invoice.is_manually_edited))
      AND ${rowIsOfEnvironment('line')}
  ), parts AS MATERIALIZED (
    SELECT unused.id, unused.amount, charges.invoice_id, charges.is_final
    FROM unused JOIN lineage ON lineage.id = unused.item_id
    JOIN charges ON charges.root_id = lineage.root_id AND charges.net > 0
      AND charges.period_start < unused.period_end AND charges.period_end > unused.period_start
  ), divided AS MATERIALIZED (
    SELECT id, bool_and(is_final) AS is_final FROM parts GROUP BY id HAVING count(DISTINCT invoice_id) > 1
  )`;
