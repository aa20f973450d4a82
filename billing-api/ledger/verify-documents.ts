import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../contract/decimal.js';
import { numericColumn } from '../../sql/columns.js';
import { minorUnitOf } from '../domain/money/minor-digits.js';
import { rowIsOfEnvironment } from '../records/conditions.js';
import type { ReadUnit } from '../records/unit.js';
import { findUnaccountedCredits } from './credit-sources.js';

/** Documents that together give back more than was charged or paid. */
type DocumentsProblem = {
  readonly entity_type: string;
  readonly entity_id: string;
  readonly problem: string;
};

const amount = numericColumn.transform(decimalOf);
const givenBackRow = z.object({
  entity_type: z.enum(['subscription_line_item', 'invoice_line_item', 'invoice']),
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

/** What still counts of a credit for unused time. */
const countedCredit = sql.fragment`credit.amount`;

/** The same of what an invoice has set off of earlier charges. */
const countedSetOff = sql.fragment`-line.amount`;

const netOf = (line: string) => {
  const column = (name: string) => sql.identifier([line, name]);
  const discounts = sql.fragment`${column('line_item_discount')} - ${column('invoice_level_discount')}`;
  return sql.fragment`greatest(0, ${column('amount')} - ${discounts})`;
};

/**
 * Charges of which something was given back, and what was: credits for unused time by the lineages
 * of their line items, credit notes by lines. Everything is joined once, since looking it up for
 * each record takes the square of their number.
 */
const charges = sql.fragment`
  noted AS MATERIALIZED (
    SELECT noted.invoice_line_item_id AS line_id, sum(noted.amount) AS amount
    FROM credit_note_lines AS noted
    JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
    WHERE note.credit_note_status <> 'VOIDED' AND ${rowIsOfEnvironment('noted')} GROUP BY 1
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
      AND (invoice.invoice_status IN ('DRAFT', 'FINALIZED') OR invoice.finalized_at IS NOT NULL)
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
    SELECT line.invoice_id, sum(${netOf('line')}) AS net, count(*) AS lines FROM invoice_line_items AS line
    WHERE ${rowIsOfEnvironment('line')} AND line.invoice_id IN (
      SELECT note.invoice_id FROM credit_notes AS note WHERE ${rowIsOfEnvironment('note')})
    GROUP BY 1
  ), charges AS MATERIALIZED (
    SELECT lineage.root_id, line.id, line.invoice_id, invoice.currency, line.period_start, line.period_end,
      ${netOf('line')} AS net, coalesce(noted.amount, 0) AS noted,
      CASE WHEN noted.amount IS NULL OR invoice.total_tax = 0 THEN 0
        ELSE ${netOf('line')} * invoice.total_tax / nullif(taxed.net, 0) END AS tax,
      CASE WHEN noted.amount IS NULL OR invoice.total_tax = 0 THEN 0 ELSE taxed.lines END AS roundings
    FROM invoice_line_items AS line
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    LEFT JOIN lineage ON lineage.id = line.subscription_line_item_id AND line.kind = 'charge' AND line.price_type = 'FIXED'
    LEFT JOIN noted ON noted.line_id = line.id
    LEFT JOIN taxed ON taxed.invoice_id = line.invoice_id
    WHERE line.kind <> 'credit' AND (lineage.id IS NOT NULL OR noted.line_id IS NOT NULL)
      AND (invoice.invoice_status = 'FINALIZED' OR (invoice.invoice_status = 'DRAFT' AND invoice.is_manually_edited))
      AND ${rowIsOfEnvironment('line')}
  )`;

/**
 * Lineages of which more is given back than was charged for the time: the charges of a lineage whose
 * periods overlap are one, and a credit is of the time in which it begins, or where pauses moved its
 * charge, of the last one before.
 */
const lineages = sql.fragment`
  pieces AS (
    SELECT coalesce(root_id, id) AS owner_id, root_id, id, 0 AS place, invoice_id, currency, period_start, period_end,
      net + tax AS most, 0 AS unused, noted, roundings
    FROM charges
    UNION ALL
    SELECT lineage.root_id, lineage.root_id, unused.id, 1, NULL, NULL, unused.period_start, unused.period_end,
      0, unused.amount, 0, 0
    FROM unused JOIN lineage ON lineage.id = unused.item_id
  ), marked AS (
    SELECT *, place = 0 AND period_start >= max(period_end) OVER (PARTITION BY owner_id ORDER BY period_start, place, id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_first
    FROM pieces
  ), numbered AS (
    SELECT *, count(*) FILTER (WHERE is_first) OVER (PARTITION BY owner_id ORDER BY period_start, place, id
      ROWS UNBOUNDED PRECEDING) AS number
    FROM marked
  ), of_lineages AS (
    SELECT CASE WHEN min(root_id) IS NULL THEN 'invoice_line_item' ELSE 'subscription_line_item' END AS entity_type,
      owner_id AS entity_id, coalesce(min(currency), '') AS currency, sum(most) AS most, sum(unused) AS unused,
      sum(noted) AS refunded, 0 AS returned, sum(roundings) AS roundings,
      array_remove(array_agg(DISTINCT invoice_id), NULL) AS invoice_ids
    FROM numbered GROUP BY owner_id, number
    HAVING sum(unused) + sum(noted) > sum(most)
  )`;

/** Invoices of which more came back, in whatever way, than was paid and set off for them, and is owed. */
const invoices = sql.fragment`
  parts AS (
    SELECT unused.id, unused.amount, charges.invoice_id, least(greatest(0, charges.net - charges.noted), charges.net
      * extract(epoch FROM least(charges.period_end, unused.period_end) - greatest(charges.period_start, unused.period_start))
      / extract(epoch FROM charges.period_end - charges.period_start)) AS weight
    FROM unused JOIN lineage ON lineage.id = unused.item_id
    JOIN charges ON charges.root_id = lineage.root_id
      AND charges.period_start < unused.period_end AND charges.period_end > unused.period_start
    WHERE charges.net > 0
  ), shares AS (
    SELECT invoice_id, count(*) OVER own > 1 AS is_rounded,
      CASE count(*) OVER own WHEN 1 THEN amount ELSE coalesce(amount * weight / nullif(sum(weight) OVER own, 0), 0) END AS amount
    FROM parts WINDOW own AS (PARTITION BY id)
  ), shared AS (
    SELECT invoice_id, sum(amount) AS amount, count(*) FILTER (WHERE is_rounded) AS roundings FROM shares GROUP BY 1
  ), lowered AS (
    SELECT line.invoice_id, -sum(line.amount) AS amount,
      coalesce(-sum(line.amount) FILTER (WHERE line.kind = 'credit'), 0) AS set_off
    FROM invoice_line_items AS line WHERE line.amount < 0 AND ${rowIsOfEnvironment('line')} GROUP BY 1
  ), given AS (
    SELECT posting.entity_id AS invoice_id, -sum(posting.amount) FILTER (WHERE movement.kind = 'invoice.voided') AS returned,
      -sum(posting.amount) FILTER (WHERE movement.kind = 'invoice.credited') AS excess
    FROM ledger_postings AS posting
    JOIN ledger_groups AS movement ON movement.id = posting.group_id AND ${rowIsOfEnvironment('movement')}
    WHERE posting.account = 'wallet' AND posting.entity_type = 'invoice'
      AND movement.kind IN ('invoice.voided', 'invoice.credited') AND ${rowIsOfEnvironment('posting')}
    GROUP BY 1
  ), of_invoices AS (
    SELECT invoice.id, invoice.currency, CASE invoice.invoice_status
        WHEN 'FINALIZED' THEN greatest(invoice.amount_paid, invoice.amount_due) + coalesce(lowered.amount, 0) - coalesce(given.excess, 0)
        ELSE invoice.amount_paid + coalesce(lowered.set_off, 0) END + invoice.total_prepaid_credits_applied AS most,
      coalesce(shared.amount, 0) AS unused, invoice.refunded_amount AS refunded, coalesce(given.returned, 0) AS returned,
      coalesce(shared.roundings, 0) AS roundings
    FROM invoices AS invoice
    LEFT JOIN shared ON shared.invoice_id = invoice.id
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
  const what =
    entity_type === 'invoice'
      ? `${plain(most)} was paid and set off for it, or is owed`
      : `invoices charge ${plain(most)} of it (${ids.length === 0 ? 'none does' : ids.join(', ')})`;
  return { entity_type, entity_id, problem: `${what}, and ${ways.join(', ')} came back` };
}

/** Whether more is given back than rounding explains. */
function isBeyond({ most, unused, refunded, returned, roundings, currency }: GivenBackRow): boolean {
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
    WITH RECURSIVE ${charges}, ${lineages}, ${invoices}
    SELECT entity_type, entity_id, currency, most, unused, refunded, returned, roundings::int AS roundings, invoice_ids
    FROM of_lineages
    UNION ALL
    SELECT 'invoice', id, currency, most, unused, refunded, returned, roundings::int, ARRAY[id]
    FROM of_invoices WHERE unused + refunded + returned > most
    ORDER BY entity_type, entity_id LIMIT ${SHOWN_MAX}`);
  const givenBack = rows.filter(isBeyond).map(problemOf);
  return [...givenBack, ...(await findUnaccountedCredits(unit))];
}
