import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../../contract/number/decimal.js';
import { numericColumn } from '../../../sql/columns.js';
import { minorUnitOf } from '../../domain/money/minor-digits.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import { CHARGED_LINEAGES } from './charged-lineages.js';
import { findUnaccountedCredits } from './credit-sources.js';
import { findDividedCredits } from './divided-credits.js';

/** Documents that together give back more than was charged or paid. */
type DocumentsProblem = {
  readonly entity_type: string;
  readonly entity_id: string;
  readonly problem: string;
};

const amount = numericColumn.transform(decimalOf);
const givenBackRow = z.object({
  entity_type: z.enum(['subscription_line_item', 'invoice_line_item', 'invoice', 'customer']),
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

/**
 * Lineages of which more is given back than was charged for the time: the charges of a lineage
 * whose periods overlap are one, and a credit is of the time in which it begins, or where pauses
 * moved its charge, of the last one before.
 */
const lineages = sql.fragment`
  pieces AS (
    SELECT coalesce(root_id, id) AS owner_id, root_id, id, 0 AS place, invoice_id, currency, period_start, period_end,
      net + CASE WHEN noted = 0 OR tax = 0 THEN 0 ELSE net * tax / nullif(taxed, 0) END AS most,
      0 AS unused, noted, CASE WHEN noted = 0 OR tax = 0 THEN 0 ELSE lines END AS roundings
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

/**
 * Invoices of which more came back, in whatever way, than was paid and set off for them, and is
 * owed.
 * @param divided what credits of several invoices have given back, of `findDividedCredits`.
 */
const invoicesOf = (divided: string) => sql.fragment`
  members AS MATERIALIZED (
    SELECT id, group_id FROM jsonb_to_recordset(${divided}::jsonb -> 'members') AS one (id text, group_id text)
  ), shared AS (
    SELECT invoice_id, sum(amount) AS amount FROM (
      SELECT DISTINCT parts.id, parts.invoice_id, parts.amount FROM parts WHERE parts.id NOT IN (SELECT id FROM divided)
      UNION ALL
      SELECT group_id, group_id, amount::numeric
      FROM jsonb_to_recordset(${divided}::jsonb -> 'sharing') AS one (group_id text, amounts jsonb)
      CROSS JOIN jsonb_array_elements_text(amounts) AS amount) AS one
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
    SELECT invoice.id, invoice.currency, CASE
        WHEN ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')} THEN greatest(invoice.amount_paid, invoice.amount_due) + coalesce(lowered.amount, 0) - coalesce(given.excess, 0)
        ELSE invoice.amount_paid + coalesce(lowered.set_off, 0) END + invoice.total_prepaid_credits_applied AS most,
      CASE WHEN ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')} THEN coalesce(shared.amount, 0) ELSE 0 END AS unused,
      invoice.refunded_amount AS refunded, coalesce(given.returned, 0) AS returned,
      coalesce(given.roundings, 0) AS roundings
    FROM invoices AS invoice
    LEFT JOIN shared ON shared.invoice_id = invoice.id
    LEFT JOIN lowered ON lowered.invoice_id = invoice.id
    LEFT JOIN given ON given.invoice_id = invoice.id
    WHERE invoice.finalized_at IS NOT NULL AND ${rowIsOfEnvironment('invoice')}
  ), of_groups AS (
    SELECT coalesce(members.group_id, found.id) AS id, min(found.currency) AS currency, sum(found.most) AS most,
      sum(found.unused) AS unused, sum(found.refunded) AS refunded, sum(found.returned) AS returned,
      sum(found.roundings) AS roundings, array_agg(found.id ORDER BY found.id) AS invoice_ids
    FROM of_invoices AS found LEFT JOIN members ON members.id = found.id GROUP BY 1
  )`;

/** What voided invoices of a customer gave back, with what voiding took off of credits. */
const customers = sql.fragment`
  taken_off AS (
    SELECT movement.customer_id, movement.currency, sum(credit.absorbed) AS amount FROM line_credits AS credit
    JOIN wallet_transactions AS movement ON movement.id = credit.wallet_transaction_id AND ${rowIsOfEnvironment('movement')}
    WHERE credit.absorbed > 0 AND ${rowIsOfEnvironment('credit')} GROUP BY 1, 2
    UNION ALL
    SELECT invoice.customer_id, invoice.currency, sum(line.absorbed) FROM invoice_line_items AS line
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    WHERE line.absorbed > 0 AND ${rowIsOfEnvironment('line')} GROUP BY 1, 2
  ), voided AS (
    SELECT invoice.customer_id, invoice.currency, sum(coalesce(found.most, 0)) AS most,
      sum(invoice.refunded_amount) AS refunded, sum(coalesce(given.returned, 0)) AS returned,
      sum(coalesce(given.roundings, 0)) AS roundings
    FROM invoices AS invoice
    LEFT JOIN of_invoices AS found ON found.id = invoice.id
    LEFT JOIN given ON given.invoice_id = invoice.id
    WHERE ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'voided')} AND ${rowIsOfEnvironment('invoice')} GROUP BY 1, 2
  ), of_customers AS (
    SELECT customer_id, currency, coalesce(voided.most, 0) AS most, taken.amount AS unused,
      coalesce(voided.refunded, 0) AS refunded, coalesce(voided.returned, 0) AS returned,
      coalesce(voided.roundings, 0) AS roundings
    FROM (SELECT customer_id, currency, sum(amount) AS amount FROM taken_off GROUP BY 1, 2) AS taken
    LEFT JOIN voided USING (customer_id, currency)
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
    subscription_line_item: `invoices charge ${plain(most)} of it (${ids.length === 0 ? 'none does' : ids.join(', ')})`,
    invoice_line_item: `it charges ${plain(most)}`,
    invoice: `${plain(most)} was paid and set off for ${ids.length === 1 ? 'it' : ids.join(', ')}, or is owed`,
    customer: `${plain(most)} was paid and set off for voided invoices in ${row.currency}`,
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
    WITH RECURSIVE ${CHARGED_LINEAGES}, ${lineages}, ${invoicesOf(await findDividedCredits(unit))}, ${customers}
    SELECT entity_type, entity_id, currency, most, unused, refunded, returned, roundings::int AS roundings, invoice_ids
    FROM of_lineages
    UNION ALL
    SELECT 'invoice', id, currency, most, unused, refunded, returned, roundings::int, invoice_ids
    FROM of_groups WHERE unused + refunded + returned > most
    UNION ALL
    SELECT 'customer', customer_id, currency, most, unused, refunded, returned, roundings::int, ARRAY[]::text[]
    FROM of_customers WHERE unused + refunded + returned > most
    ORDER BY entity_type, entity_id LIMIT ${SHOWN_MAX}`);
  const givenBack = rows.filter(isBeyond).map(problemOf);
  return [...givenBack, ...(await findUnaccountedCredits(unit))];
}
